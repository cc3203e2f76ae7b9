"""The table in the browser: ``idiot play --web``.

Needs the extra ``web`` (Starlette, uvicorn, websockets), so nothing outside this package imports it at module level.

==============  ===================================================================================================
module          what it does
==============  ===================================================================================================
``texts``       the server's own sentences, in both languages
``catalog``     what may be chosen before a game: tables, house rules, agents
``choices``     legal actions as the page offers them, and why everything else is not possible
``insight``     what a model thinks of one seat's view, and the story of a whole game
``payload``     all that one browser receives about a game: the only place that makes it
``table``       one table: seats, tokens, games after one another; decides who may do what, and knows no network
``store``       tables in files, so that a restart loses nothing
``thinking``    agents' decisions beside the event loop
``room``        a table with browsers around it: whose messages count, when agents act, who stands in for whom
``guard``       who may talk to the server at all: Host, Origin, sizes, rates
``app``         the web application: pages, requests, the socket
``serve``       ``idiot play --web`` itself
==============  ===================================================================================================
"""
