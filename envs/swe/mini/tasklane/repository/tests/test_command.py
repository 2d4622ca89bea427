from tasklane import Queue, Store
from tasklane.__main__ import main


def test_jobs_are_printed(tmp_path, capsys, clock):
    queue = Queue(Store(tmp_path / "jobs.db"), clock=clock)
    queue.put("mail")
    queue.put("report", max_attempts=1)
    queue.failed(queue.claim(), "no luck", last=True)
    assert main([str(tmp_path / "jobs.db")]) == 0
    assert capsys.readouterr().out == "     1 dead     mail 1/3 (no luck)\n     2 ready    report 0/1\n"


def test_one_state_is_printed(tmp_path, capsys, clock):
    queue = Queue(Store(tmp_path / "jobs.db"), clock=clock)
    queue.put("mail")
    assert main([str(tmp_path / "jobs.db"), "--state", "dead"]) == 0
    assert capsys.readouterr().out == ""


def test_a_missing_file_is_not_made(tmp_path, capsys):
    assert main([str(tmp_path / "none.db")]) == 2
    assert "no file" in capsys.readouterr().err
    assert not (tmp_path / "none.db").exists()
