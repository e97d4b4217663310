from pathlib import Path

PARCELS = Path(__file__).parents[1] / "sources" / "parcels.lightapi.yaml"


def test_a_description_is_added_read_and_found_by_what_only_its_metadata_says(pegboard):
    assert pegboard("init").code == 0
    added = pegboard("add", "lightapi", str(PARCELS))
    assert (added.code, added.err) == (0, "")
    assert "added parcels" in added.out
    found = pegboard("search", "consignment", "--mode", "bm25", "--json").json["hits"]
    assert [hit["id"] for hit in found] == ["parcels:shipping:trackParcel"]
    shown = pegboard("show", "trackParcel", "--json").json
    assert "consignment" not in shown["item"]["description"]
    assert shown["item"]["keywords"][:2] == ["shipment status", "consignment"]
    by_persona = pegboard("search", "parcel", "--persona", "support-agent", "--json").json["hits"]
    assert [hit["id"] for hit in by_persona] == ["parcels:shipping:trackParcel"]


def test_what_is_no_description_is_not_added(pegboard, desk):
    pegboard("init")
    (desk / "petstore.yaml").write_text("openapi: 3.1.0\npaths: {}\n")
    refused = pegboard("add", "lightapi", "petstore.yaml")
    assert refused.code == 5
    assert "petstore.yaml, line 1: there is no lightapi in it" in refused.err
    assert "pegboard add openapi" in refused.err
