from openapi_fuzzing import run


def test_documents_made_to_break_it_bring_findings_or_an_error_with_a_hint(tmp_path, share):
    tally = run(rounds := int(200 + 1_300 * share), tmp_path, seed=3)
    assert tally.found["item"] > rounds / 3
    assert sum(tally.errors.values()) > rounds / 15
    assert any(what.startswith("rejected") for what in tally.found)
