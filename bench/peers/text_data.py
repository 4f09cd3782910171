"""The text that language models are compared on: the licences in /usr/share/common-licenses, which every Debian has, one
behind the other by name, as one file."""

from pathlib import Path

LICENCES = Path("/usr/share/common-licenses")
NAME = "licences"
TEST_SHARE = 0.1  # at the end, as the program keeps it apart


class NoText(Exception):
    pass


def write(path):
    """Writes the text to a file, where it is not there yet."""
    if path.exists():
        return
    files = sorted(file for file in LICENCES.glob("*") if file.is_file() and not file.is_symlink())
    if not files:
        raise NoText(f"{LICENCES} holds no texts")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8")


def load(path):
    """Returns (characters by number, numbers of the training part, those of the test part), as the program numbers and
    cuts them."""
    contents = Path(path).read_text(encoding="utf-8")
    characters = sorted(set(contents))
    places = {character: number for number, character in enumerate(characters)}
    numbers = [places[character] for character in contents]
    test = int(len(numbers) * TEST_SHARE)
    return characters, numbers[: len(numbers) - test], numbers[len(numbers) - test :]

