"""Where the records of a CSV are (RFC 4180), and what is wrong with those that do not fit."""

from stream_rank.engine.jit import compiled, inlined

__all__ = ["BLANK", "BREAK", "CELLS", "GOOD", "OPEN", "QUOTES", "check_records", "find_records", "mark_codes"]  # fmt: skip

GOOD, BLANK, CELLS, QUOTES, OPEN, BREAK = 0, 1, 2, 3, 4, 5
"""A good record; an empty one; another number of cells; quotes within a cell; a quote that never closes; a bare carriage return."""

_NEWLINE, _RETURN, _QUOTE, _SPACE, _TAB, _ZERO, _NINE = 10, 13, 34, 32, 9, 48, 57
_PLUS, _MINUS = 43, 45


@compiled
def find_records(text, begin, end, starts, ends, delimiter, n_cells, longest, ended):
    """Where the whole records begin and end (before the newline); how many, and where the rest begins.

    A record of several lines is one that its quotes hold together: it is well formed, has `n_cells` cells (any number if
    that is 0) and at most `longest` bytes. Where it is not, its first line is a record by itself, and what follows is looked
    at anew: a lost quote costs a line, not all until the next quote. What is found depends on the bytes from its beginning
    on, never on how they were cut; `ended` says that no more come.
    """
    count, start, most = 0, begin, len(starts)
    while start < end and count < most:
        at, line, cells, quoted, closed, fresh, sound = start, -1, 1, False, False, True, True
        found = -1  # where the record ends
        while at < end:
            byte = text[at]
            if quoted:
                if byte == _QUOTE:
                    quoted, closed = False, True
                elif byte == _NEWLINE:
                    if line < 0:
                        line = at
                    if at - start > longest:
                        found = line
                        break
            elif byte == _NEWLINE:
                found = at
                if line >= 0:
                    fits = n_cells == 0 or cells == n_cells
                    found = at if fits and at - start <= longest else line
                break
            elif not sound:
                pass  # a line that is wrong already
            elif byte == delimiter:
                cells += 1
                fresh, closed = True, False
                at += 1
                continue
            elif byte == _QUOTE and (fresh or closed):
                quoted, closed = True, False  # of a cell's beginning, or the second of two
            elif byte == _QUOTE or (closed and byte != _RETURN):
                if line >= 0:
                    found = line
                    break
                sound = False
            elif byte == _RETURN and line >= 0 and at + 1 < end and text[at + 1] != _NEWLINE:
                found = line
                break
            fresh = False
            at += 1
        if found < 0 and line >= 0 and (ended or end - start > longest):
            found = line
        if found < 0:
            break
        starts[count], ends[count] = start, found
        count += 1
        start = found + 1
    return count, start


@compiled
def check_records(text, starts, ends, delimiter, n_cells, faults, counts, zeros):
    """Say of each record what is wrong with it and how many cells it has; and mark the columns with whole numbers such as 007.

    How many records are of several lines.
    """
    several = 0
    for record in range(len(starts)):
        at, end = starts[record], ends[record]
        if end > at and text[end - 1] == _RETURN:
            end -= 1
        cells, quoted, closed, fresh, blank, fault = 1, False, False, True, True, GOOD
        several_here = False
        while at < end:
            byte = text[at]
            blank = blank and byte in (_SPACE, _TAB) and byte != delimiter
            if fresh:
                fresh = False
                if _is_code(text, at, end) and cells <= n_cells:
                    zeros[cells - 1] = True
                if byte == _QUOTE:
                    quoted = True
                    at += 1
                    continue
            if quoted:
                if byte == _QUOTE:
                    quoted, closed = False, True
                elif byte == _NEWLINE:
                    several_here = True
            elif byte == delimiter:
                cells += 1
                fresh, closed = True, False
            elif byte == _QUOTE and closed:
                quoted, closed = True, False
            elif byte == _QUOTE or closed:
                fault = max(fault, QUOTES)
            elif byte == _RETURN:
                fault = BREAK
            at += 1
        if quoted:
            fault = max(fault, OPEN)
        if fault == GOOD and cells != n_cells:
            fault = CELLS
        if blank:
            fault = BLANK
        faults[record], counts[record] = fault, cells
        several += several_here
    return several


@inlined
def _is_code(text, at, end):
    """Whether a cell begins as a whole number with zeros before it."""
    if text[at] == _QUOTE:
        at += 1
    while at < end and (text[at] == _SPACE or text[at] == _TAB):
        at += 1
    if at < end and (text[at] == _PLUS or text[at] == _MINUS):
        at += 1
    return at + 1 < end and text[at] == _ZERO and _ZERO <= text[at + 1] <= _NINE


@compiled
def mark_codes(before, last, here, after, delimiter, marks):
    """Mark where a cell may begin as 007 does, by four neighbouring bytes each; there are false alarms, in quotes.

    Slices of one text, and no branch: this compiles to vectors of bytes, a twentieth of the time of reading them.
    """
    for at in range(len(marks)):
        begun = (last[at] == delimiter) | (last[at] == _NEWLINE) | (last[at] == _QUOTE)
        earlier = (before[at] == delimiter) | (before[at] == _NEWLINE) | (before[at] == _QUOTE)
        earlier |= (before[at] == _SPACE) | (before[at] == _TAB)
        skipped = (last[at] == _SPACE) | (last[at] == _TAB)
        skipped |= (last[at] == _PLUS) | (last[at] == _MINUS)
        digits = (here[at] == _ZERO) & (after[at] >= _ZERO) & (after[at] <= _NINE)
        marks[at] = digits & (begun | (skipped & earlier))
