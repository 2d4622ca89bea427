from gridlock import from_csv, to_csv


def test_values_are_written_as_people_read_them(sheet):
    for name, text in (("A1", "name"), ("B1", "2.50"), ("A2", 'say "hi", you'), ("B2", "=B1*2"), ("C2", "=1/0")):
        sheet.set(name, text)
    assert to_csv(sheet) == 'name,2.5,\n"say ""hi"", you",5,#DIV/0!\n'


def test_texts_come_back_as_they_were(sheet):
    for name, text in (("A1", "'007"), ("B2", "=A1&1"), ("C1", "two\nlines")):
        sheet.set(name, text)
    copy = from_csv(to_csv(sheet, formulas=True))
    assert {name: copy.text(name) for name in copy.names()} == {"A1": "'007", "C1": "two\nlines", "B2": "=A1&1"}
    assert copy.value("B2") == "0071"


def test_formulas_may_need_what_comes_later():
    sheet = from_csv("=B1+1,=A2\n5\n")
    assert sheet.value("A1") == 6


def test_an_empty_sheet_is_an_empty_table(sheet):
    assert to_csv(sheet) == ""
    assert from_csv("").names() == []
