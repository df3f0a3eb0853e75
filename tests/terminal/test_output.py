import pytest

from forge.terminal.output import console, dot, key_values, table, words


def test_status_has_a_text():
    assert dot("running").plain == "● running"


def test_unknown_status_is_shown():
    assert dot("from the future").plain == "● from the future"


def test_text_is_not_interpreted_as_markup(capsys: pytest.CaptureFixture[str]):
    console().print(words("[red]not red[/red] :smile:"))
    assert capsys.readouterr().out == "[red]not red[/red] :smile:\n"


def test_piped_table_is_not_truncated(capsys: pytest.CaptureFixture[str]):
    rows = table("ID", "TITLE", wrapped={"TITLE"})
    rows.add_row("1", "long " * 100)
    console().print(rows)
    assert "long " * 99 in capsys.readouterr().out


def test_id_is_not_truncated_on_a_narrow_screen(capsys: pytest.CaptureFixture[str]):
    rows = table("ID", "TITLE", wrapped={"TITLE"})
    rows.add_row("01a1dd9e-e17e-75f3-b0a6-6a948f274981", "a title that has to give way")
    narrow = console()
    narrow.width = 50
    narrow.print(rows)
    assert "01a1dd9e-e17e-75f3-b0a6-6a948f274981" in capsys.readouterr().out


def test_missing_values_are_omitted(capsys: pytest.CaptureFixture[str]):
    console().print(key_values([("known", "yes"), ("unknown", None)]))
    assert capsys.readouterr().out.split() == ["known", "yes"]
