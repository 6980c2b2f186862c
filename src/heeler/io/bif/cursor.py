"""A position in a BIF text, moved by patterns."""

from __future__ import annotations

import re

from heeler.io.errors import ReadError, shown

__all__ = ["Cursor"]

# Every pattern is possessive (`++`, `*+`): on hostile text nothing is tried twice.
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_WORD = re.compile(r'"([^"]*+)"|((?:[^\s{}()\[\];,|"/]|/(?![/*]))++)')
# A value's name may have blanks and more kinds of signs inside than a variable's.
_LABEL = re.compile(r'"([^"]*+)"|((?:[^{}();,"/]|/(?![/*]))++)')
_NUMBERS = re.compile(r"(?:[^;{}()\"/]|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/)*+")
_ENTRY_LABELS = re.compile(r'\(((?:"[^"]*+"|[^()"{};/]|/(?![/*]))*+)\)')
_PROPERTY = re.compile(r'(?:"[^"]*+"|[^";{}])*+;')
_COMMENT = re.compile(r"//[^\n]*+|/\*(?:[^*]|\*(?!/))*+\*/")


class Cursor:
    """A text and the position up to which it has been understood.

    Parameters
    ----------
    text : str
        The text.
    path : str
        The file's name, for messages.
    """

    def __init__(self, text: str, path: str) -> None:
        self.text = text
        self.path = path
        self.position = 0

    def line(self, position: int | None = None) -> int:
        """Return the line of a position; the default is where the cursor stands."""
        end = self.position if position is None else position
        return self.text.count("\n", 0, end) + 1

    def error(self, message: str, position: int | None = None) -> ReadError:
        """Return an error that points at a position; the default is where the cursor stands."""
        return ReadError(message, self.path, self.line(position))

    def expected(self, what: str) -> ReadError:
        """Return an error that says what was expected where the cursor stands."""
        following = self.text[self.position : self.position + 200].split("\n", 1)[0].strip()
        found = shown(following) if following else "the end of the file"
        if following == "" and self.position < len(self.text):
            found = "something else"
        return self.error(f"expected {what}, found {found}")

    def skip(self) -> None:
        """Move over blanks and comments."""
        found = _BLANK.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def at_end(self) -> bool:
        """Return whether nothing but blanks and comments is left."""
        self.skip()
        return self.position >= len(self.text)

    def take(self, sign: str) -> bool:
        """Move over a sign if it comes next, and return whether it did."""
        self.skip()
        if not self.text.startswith(sign, self.position):
            return False
        self.position += len(sign)
        return True

    def demand(self, sign: str, where: str) -> None:
        """Move over a sign that has to come next."""
        if not self.take(sign):
            raise self.expected(f"{sign!r} {where}")

    def word(self, what: str) -> str:
        """Move over a name or keyword, quoted or not, and return it."""
        self.skip()
        found = _WORD.match(self.text, self.position)
        if found is None:
            raise self.expected(what)
        self.position = found.end()
        return found.group(1) if found.group(2) is None else found.group(2)

    def peek_word(self) -> str:
        """Return the next unquoted word without moving, `""` if something else comes next."""
        self.skip()
        found = _WORD.match(self.text, self.position)
        return (found.group(2) or "") if found else ""

    def words(self, until: str, what: str) -> list[str]:
        """Move over names up to one of some signs; commas are ignored, the sign is not taken."""
        found = []
        while True:
            self.skip()
            following = self.text[self.position : self.position + 1]
            if following and following in until:
                return found
            if following == ",":
                self.position += 1
                continue
            found.append(self.word(what))

    def labels(self, count: int) -> list[str]:
        """Move over a list of value names up to a closing brace, which is not taken.

        Names are separated by commas, or by blanks if that gives the number that was declared.
        """
        found: list[str] = []
        quoted: list[bool] = []
        while True:
            self.skip()
            following = self.text[self.position : self.position + 1]
            if following == "}":
                break
            if following == ",":
                self.position += 1
                continue
            match = _LABEL.match(self.text, self.position)
            if match is None:
                raise self.expected("the name of a value")
            self.position = match.end()
            plain = match.group(2)
            found.append(match.group(1) if plain is None else " ".join(plain.split()))
            quoted.append(plain is None)
        if len(found) != count:
            pieces = zip(found, quoted, strict=True)
            split = [word for name, whole in pieces for word in ([name] if whole else name.split())]
            found = split if len(split) == count else found
        return found

    def entry_labels(self) -> str | None:
        """Move over a list of values in parentheses and return its inside, None if none comes."""
        self.skip()
        found = _ENTRY_LABELS.match(self.text, self.position)
        if found is None:
            if self.text.startswith("(", self.position):
                # Comments inside are rare enough to be looked for only here.
                return self._commented_labels()
            return None
        self.position = found.end()
        return found.group(1)

    def _commented_labels(self) -> str:
        end = self.text.find(")", self.position)
        inside = self.text[self.position + 1 : end] if end >= 0 else ""
        without = _COMMENT.sub(" ", inside)
        if end < 0 or "(" in without or ";" in without or "{" in without:
            raise self.expected("a list of values in parentheses")
        self.position = end + 1
        return without

    def number_text(self) -> str:
        """Move over numbers and the semicolon after them and return their text."""
        self.skip()
        start = self.position
        found = _NUMBERS.match(self.text, start)
        end = found.end() if found else start
        if not self.text.startswith(";", end):
            raise self.expected("numbers and a semicolon")
        self.position = end + 1
        numbers = self.text[start:end]
        return _COMMENT.sub(" ", numbers) if "/" in numbers else numbers

    def skip_property(self) -> None:
        """Move over the rest of a property, semicolon included."""
        self.skip()
        found = _PROPERTY.match(self.text, self.position)
        if found is None:
            raise self.expected("the text of a property and a semicolon")
        self.position = found.end()
