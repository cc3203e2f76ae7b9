"""The one error of the command line's input."""


class InputError(ValueError):
    """What the user gave cannot be used; the message is one sentence that names the value and what would be right."""
