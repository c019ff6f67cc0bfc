"""Searches and reads with the clients of other services, which know only another base URL.

Reads BASE_URL, API_KEY (all scopes) and SEARCHER_KEY (search:read only). The web index has the page PAGE.
"""

import asyncio
import base64
import os

import requests
from exa_py import AsyncExa, Exa
from firecrawl import AsyncFirecrawl, Firecrawl
from firecrawl.v2.utils.error_handler import BadRequestError as FirecrawlBadRequest
from firecrawl.v2.utils.error_handler import FirecrawlError, UnauthorizedError
from langchain_community.utilities import SearxSearchWrapper
from langchain_tavily import TavilyExtract, TavilySearch
from tavily import AsyncTavilyClient, TavilyClient
from tavily.errors import BadRequestError, ForbiddenError, InvalidAPIKeyError

BASE = os.environ["BASE_URL"]
KEY = os.environ["API_KEY"]
SEARCHER = os.environ["SEARCHER_KEY"]
PAGE = "https://example.com/tides"
UNREADABLE = "http://127.0.0.1:1/"
QUERY = "what moves the tides"


def fails(error, call):
    try:
        call()
    except error as caught:
        return str(caught)
    raise AssertionError(f"no {error}")


def use_tavily():
    base = f"{BASE}/compat/tavily"
    client = TavilyClient(KEY, api_base_url=base, session_id="tides")
    found = client.search(QUERY, search_depth="advanced", topic="general", include_images=True, include_usage=True)
    assert found["results"][0]["url"] == PAGE and "moon" in found["results"][0]["content"], found
    found = client.search(QUERY, include_raw_content="markdown", include_domains=["example.com"], max_results=1)
    assert found["results"][0]["raw_content"].startswith("# Tides"), found
    assert client.search(QUERY, exclude_domains=["example.com"])["results"] == []
    assert client.search(QUERY, days=7)["results"], "days apply to news"
    read = client.extract([PAGE, UNREADABLE], format="text")
    assert [page["url"] for page in read["results"]] == [PAGE], read
    assert [page["url"] for page in read["failed_results"]] == [UNREADABLE], read
    assert "moon" in asyncio.run(AsyncTavilyClient(f"tvly-{KEY}", api_base_url=base).search(QUERY))["results"][0]["content"]

    assert "include_answer" in fails(BadRequestError, lambda: client.search(QUERY, include_answer=True))
    assert "API key" in fails(InvalidAPIKeyError, lambda: TavilyClient("wrong", api_base_url=base).search(QUERY))
    searcher = TavilyClient(SEARCHER, api_base_url=base)
    assert "document:read" in fails(ForbiddenError, lambda: searcher.extract([PAGE]))


def use_langchain():
    tool = TavilySearch(tavily_api_key=KEY, api_base_url=f"{BASE}/compat/tavily", max_results=3)
    assert tool.invoke({"query": QUERY})["results"][0]["url"] == PAGE
    reader = TavilyExtract(tavily_api_key=KEY, api_base_url=f"{BASE}/compat/tavily")
    assert "moon" in reader.invoke({"urls": [PAGE]})["results"][0]["raw_content"]

    for path in ("/compat/searxng", "/compat/searxng/search"):
        headers = {"Authorization": f"Bearer {KEY}"}
        searx = SearxSearchWrapper(searx_host=f"{BASE}{path}", headers=headers)
        assert "moon" in searx.run(QUERY)
        [first, *_] = searx.results(QUERY, num_results=2, time_range="")
        assert first["link"] == PAGE and first["engines"] == ["retrieval"], first
    basic = {"Authorization": "Basic " + base64.b64encode(f"searx:{KEY}".encode()).decode()}
    assert "moon" in SearxSearchWrapper(searx_host=f"{BASE}/compat/searxng", headers=basic).run(QUERY)
    anonymous = SearxSearchWrapper(searx_host=f"{BASE}/compat/searxng")
    assert "API key" in fails(ValueError, lambda: anonymous.run(QUERY))


def use_exa():
    client = Exa(KEY, base_url=f"{BASE}/compat/exa")
    [first, *_] = client.search(QUERY, num_results=2).results
    assert first.url == PAGE and first.text.startswith("# Tides"), first
    found = client.search(QUERY, contents={"highlights": True}, include_domains=["example.com"]).results
    assert "moon" in found[0].highlights[0] and found[0].text is None, found
    assert client.search(QUERY, contents=False).results[0].text is None
    assert client.search_and_contents(QUERY, text={"max_characters": 7}).results[0].text == "# Tides"
    read = client.get_contents([PAGE, UNREADABLE], text=True)
    assert [page.url for page in read.results] == [PAGE], read
    assert [status.status for status in read.statuses] == ["success", "error"], read.statuses
    assert asyncio.run(AsyncExa(KEY, f"{BASE}/compat/exa").search(QUERY)).results[0].url == PAGE

    refused = fails(ValueError, lambda: client.search(QUERY, exclude_text=["moon"]))
    assert "400" in refused and "excludeText" in refused, refused
    assert "/compat/exa/contents" in fails(ValueError, lambda: client.answer(QUERY))
    assert "401" in fails(ValueError, lambda: Exa("wrong", base_url=f"{BASE}/compat/exa").search(QUERY))


def use_firecrawl():
    # The synchronous client drops the path of the base URL, so both lead to the same paths.
    for base in (BASE, f"{BASE}/compat/firecrawl"):
        client = Firecrawl(api_key=KEY, api_url=base)
        found = client.search(QUERY, limit=2)
        assert found.web[0].url == PAGE and "moon" in found.web[0].description, found
        found = client.search(QUERY, limit=1, scrape_options={"formats": ["markdown"]})
        assert found.web[0].markdown.startswith("# Tides") and found.web[0].metadata.status_code == 200, found
        page = client.scrape(PAGE, formats=["markdown"], only_main_content=True)
        assert "moon" in page.markdown and page.metadata.source_url == PAGE, page
    page = asyncio.run(AsyncFirecrawl(api_key=KEY, api_url=f"{BASE}/compat/firecrawl").scrape(PAGE, formats=["markdown"]))
    assert "moon" in page.markdown, page
    assert "screenshot" in fails(FirecrawlBadRequest, lambda: client.scrape(PAGE, formats=["screenshot"]))
    fails(FirecrawlError, lambda: client.scrape(UNREADABLE))
    assert "/compat/firecrawl/v2/scrape" in fails(FirecrawlError, lambda: client.map(PAGE))
    fails(UnauthorizedError, lambda: Firecrawl(api_key="wrong", api_url=BASE).scrape(PAGE))


def use_open_webui():
    """Sends the requests of Open WebUI, which is no library."""
    headers = {"User-Agent": "Open WebUI", "Authorization": f"Bearer {KEY}"}
    found = requests.post(f"{BASE}/compat/openwebui/search", headers=headers, json={"query": QUERY, "count": 3}).json()
    assert found[0]["link"] == PAGE and found[0]["title"] == "Tides" and "moon" in found[0]["snippet"], found
    body = {"urls": [PAGE, UNREADABLE]}
    [loaded] = requests.post(f"{BASE}/compat/openwebui/load", headers=headers, json=body).json()
    assert "moon" in loaded["page_content"] and loaded["metadata"]["source"] == PAGE, loaded


def read_pages():
    for url in (PAGE, requests.utils.quote(PAGE, safe="")):
        page = requests.get(f"{BASE}/read/{url}", auth=("anyone", KEY))
        assert page.text.startswith("# Tides") and page.headers["Content-Type"] == "text/markdown; charset=utf-8", page
    missing = requests.get(f"{BASE}/read/{PAGE}")
    assert missing.status_code == 401 and missing.headers["Content-Type"].startswith("text/plain"), missing
    assert requests.get(f"{BASE}/read/{UNREADABLE}", auth=("anyone", KEY)).status_code == 502


use_tavily()
use_langchain()
use_exa()
use_firecrawl()
use_open_webui()
read_pages()
print("Python: the clients of Tavily, Exa, Firecrawl and SearXNG passed")
