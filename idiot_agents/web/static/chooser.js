// Which legal actions a choice of cards belongs to.  No rule is known here: the server lists the legal actions with the
// cards that each of them moves, and a choice is only ever compared with those.

const empty = () => ({ hand: {}, up: {}, slot: null });

const covers = (action, choice) =>
  ["hand", "up"].every((zone) => Object.entries(choice[zone]).every(([rank, n]) => (action[zone][rank] || 0) >= n)) &&
  (choice.slot === null || choice.slot === action.slot);

const total = (part) =>
  Object.values(part.hand)
    .concat(Object.values(part.up))
    .reduce((a, b) => a + b, 0);

export class Chooser {
  constructor(actions) {
    this.actions = actions;
    this.choice = empty();
  }

  get isEmpty() {
    return total(this.choice) === 0 && this.choice.slot === null;
  }

  clear() {
    this.choice = empty();
  }

  count(zone, rank) {
    return this.choice[zone][rank] || 0;
  }

  possible(choice) {
    return this.actions.some((action) => covers(action, choice));
  }

  /** Whether a card belongs to any legal action. */
  touchable(zone, rank) {
    return this.possible({ ...empty(), [zone]: { [rank]: 1 } });
  }

  /** Choose one more card of a rank; false if it belongs to no legal action. */
  touch(zone, rank) {
    const more = { ...this.choice, slot: null, [zone]: { ...this.choice[zone], [rank]: this.count(zone, rank) + 1 } };
    const instead = { ...this.choice, slot: null, [zone]: { [rank]: 1 } };
    const alone = { ...empty(), [zone]: { [rank]: 1 } };
    if (this.possible(more)) this.choice = more;
    else if (this.count(zone, rank)) {
      const rest = { ...this.choice[zone] };
      delete rest[rank];
      this.choice = { ...this.choice, [zone]: rest };
    } else if (this.possible(instead)) this.choice = instead;
    else if (this.possible(alone)) this.choice = alone;
    else return false;
    return true;
  }

  /** Choose a face-down card. */
  touchSlot(slot) {
    const choice = { ...empty(), slot };
    if (!this.possible(choice)) return false;
    this.choice = this.choice.slot === slot ? empty() : choice;
    return true;
  }

  /** Legal actions that move exactly the chosen cards. */
  get matches() {
    if (this.isEmpty) return [];
    return this.actions.filter(
      (action) =>
        covers(action, this.choice) && total(action) === total(this.choice) && action.slot === this.choice.slot,
    );
  }

  /** Legal actions that need no card: done, take, chance. */
  get plain() {
    return this.actions.filter((action) => total(action) === 0 && action.slot === null);
  }
}
