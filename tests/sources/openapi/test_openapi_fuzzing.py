from openapi_fuzzing import run


def test_documents_made_to_break_it_bring_findings_or_an_error_with_a_hint(tmp_path):
    tally = run(1_500, tmp_path, seed=3)
    assert tally.found["item"] > 500
    assert sum(tally.errors.values()) > 100
    assert any(what.startswith("rejected") for what in tally.found)
