"""Draws the picture in the README: ``python -m tests.readme_picture``."""

from pathlib import Path

from PIL import Image

from idiot_agents.compiled import CompiledAgent
from idiot_env import Game
from idiot_env.render import picture

PATH = Path(__file__).parent / "data" / "table.png"


def main() -> None:
    game, agent = Game(players=4, seed=11), CompiledAgent("careful")
    while game.turn != 0 or game.view(0).pile_size < 4 or game.view(0).stock_size > 8:
        game.apply(agent.act(game.view(game.turn)))
    image = Image.fromarray(picture(game.view(0), game.last_event, ["Kari", "Anne", "Bjørn", "Cecilie"]))
    image = image.resize((960, 675), Image.Resampling.LANCZOS)
    image.quantize(128).save(PATH, optimize=True)
    print(f"wrote {PATH.name}: {image.width} × {image.height}")


if __name__ == "__main__":
    main()
