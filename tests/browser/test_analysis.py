"""Records replayed, and what a search thinks of them."""

import json
import re

from selenium.webdriver.common.by import By

from page import program

MOVES = "#analyse .moves button"


def test_a_record_is_replayed(page, tmp_path):
    path = tmp_path / "games.jsonl"
    program("match", "greedy", "random", "--ruleset", "savard", "--games", 2, "--quiet", "--ledger", path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    page.open("analyse")
    page.wait_for("#analyse [data-square]", 64)
    page.find_element(By.CSS_SELECTOR, "#analyse input[type=file]").send_keys(str(path))
    last = records[-1]
    page.wait_for(MOVES, len(last["actions"]))
    for _ in range(7):
        page.click("#analyse [aria-label='one action on']")
    told = json.loads(program("analyse", "--record", path, "--ply", 7, "--agent", "random", "--json"))
    assert page.run("return $('#analyse input[readonly]').value") == told["position"]
    page.click("#analyse [aria-label='to the end']")
    page.wait_text("#analyse .status", f"After {len(last['actions'])} of")
    assert ("Drawn" if last["result"] == "draw" else f"Player {last['result']} wins") in page.text("#analyse .status")
    # The other game of the file.
    page.choose("Game of the file", "0")
    page.wait_for(MOVES, len(records[0]["actions"]))


# A position of savard in which c2-c3 wins at once.
WON = "7d/8/8/8/8/Mm6/2M5/D7 1"


def heads(page):
    return page.run("return $$('#analyse thead th').map((one) => one.textContent)")


def listed(page):
    """Returns the texts of the actions that are listed."""
    return page.run("return $$('#analyse tbody th button').map((one) => one.textContent)")


def settings(page):
    """Opens what says who judges."""
    page.run("for (const one of $$('#analyse details')) one.open = true")


def address(page, ruleset, actions=(), at=0, start=""):
    """Returns the part of an address that shows a game."""
    about = page.request("/api/rules", {"ruleset": ruleset})
    return page.run("return `analyse/${arguments[0].map(encodeURIComponent).join('/')}`", [ruleset, about["fingerprint"], start, ",".join(actions), at])


def analyse(page, *game, **where):
    """Opens a game by its address."""
    page.open("studies")
    page.reopen(address(page, *game, **where))
    page.wait_for("#analyse [data-square]")
    settings(page)


def test_a_state_is_judged_and_another_action_tried(page):
    page.open("analyse")
    page.wait_for("#analyse [data-square]")
    settings(page)
    page.choose("Ruleset", "dutch-8x8")
    page.wait("return $('#analyse input[readonly]').value.includes('M')")
    page.choose("Who judges", "net:sims=64")
    page.wait_text("#analyse .verdict", "64 simulations")
    assert page.count("#analyse .arrow") > 0
    action = listed(page)[0]
    # The best action stands first, and has the most visits.
    assert page.text("#analyse .verdict").startswith(f"Player 1 to act: {action}")
    assert heads(page)[1:5] == ["Points", "Prior", "Visits", "Share"]
    visits = page.run("return $$('#analyse tbody tr.scored').map((row) => Number(row.children[3].textContent))")
    assert visits == sorted(visits, reverse=True)
    page.choose("Search of a network", "gumbel")
    page.wait("return $$('#analyse thead th').some((one) => one.textContent === 'Improved policy')")
    page.choose("Search of a network", "puct")
    page.wait("return !$$('#analyse thead th').some((one) => one.textContent === 'Improved policy')")
    page.wait_for("#analyse .usable")
    page.click_button(action, "#analyse tbody")
    page.wait_for(MOVES, 1)
    assert action in page.text("#analyse .moves")
    page.choose("On the board", "prior")
    page.wait_for("#analyse .arrow.prior")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "All 2 states are judged")
    page.wait_for("#analyse .curve rect.win", 2)
    # Without the three probabilities there is a line and no bands.
    page.choose("Who judges", "alphabeta:nodes=500")
    page.wait_text("#analyse .verdict", "actions deep")
    assert heads(page)[1:4] == ["Points", "Men ahead", "Depth"]
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "All 2 states are judged")
    assert page.count("#analyse .curve rect.win") == 0
    assert len(page.run("return $('#analyse .curve polyline').points")) == 2
    assert page.run("return $$('#analyse .curve .tick').map((one) => one.textContent)")[:3] == ["100", "50", "0"]


def test_what_went_wrong_is_listed_after_a_game(page):
    analyse(page, "savard", ["a1-b1", "h8-g8", "c2-c3"], 3, WON)
    page.wait_text("#analyse .status", "Player 1 wins")
    page.choose("Who judges", "alphabeta:nodes=500")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "All 3 states are judged")
    # The win is missed once and not regained: what was lost at the first action is what the opponent gave back.
    wrong = "#analyse [aria-label='What went wrong']"
    [first, *_] = page.run("return $$('.mistakes li').map((one) => one.textContent)")
    assert "a1-b1" in first and "Player 1 lost" in first and "Better: c2-c3" in first and "It allows: " in first
    assert "of 2 choices" in page.text(f"{wrong} .accuracy li") and "less than 2 points" in page.text(f"{wrong} details")
    assert page.count(".mistakes li .token.player1") == 1
    # Each loss is marked on the curve, and told beside the board at its state.
    assert page.count("#analyse .curve circle.lost.player1") == 1 and "lost by player 1" in page.text("#analyse .curve-figure")
    page.click_button("Next loss", "#analyse .board-side")
    page.wait_text("#analyse .status", "After 0 of 3")
    # The action that was played has an arrow of its own.
    page.wait_for("#analyse .board .arrow.played", 1)
    page.wait_text("#analyse .board-side .mistakes", "a1-b1")
    page.screenshot("what-went-wrong.png")
    # What was better is shown on the board as a variation, once.
    for _ in range(2):
        page.click("#analyse .mistakes li button[title]")
        page.wait_text("#analyse .status", "Variation: after 1 of 1")
        page.wait("return !$('#analyse .board-side .mistakes').textContent")
    assert page.run("return $$('.variations button.plain').map((one) => one.textContent)") == ["c2-c3", "×"]
    page.click_button("Back to the game", "#analyse")
    page.wait_text("#analyse .status", "After 0 of 3 actions")


def test_a_person_is_led_to_the_own_losses(page):
    for agents, at in [(["human", "greedy"], 0), (["greedy", "human"], 1)]:
        page.open_play()
        game = {"ruleset": "savard", "start": WON, "actions": ["a1-b1", "h8-g8", "c2-c3"], "agents": agents}
        page.run("localStorage.setItem('latrunculi.game', arguments[0])", json.dumps(game))
        page.reopen()
        page.wait_for("#play .moves button", 3)
        page.click_button("Analyse", "#play")
        page.wait_text("#analyse .status", "After 3 of 3")
        settings(page)
        page.choose("Who judges", "alphabeta:nodes=500")
        page.click_button("Judge the whole game", "#analyse")
        page.wait_text("#analyse", "All 3 states are judged")
        page.click_button("Your next loss", "#analyse")
        page.wait_text("#analyse .status", f"After {at} of 3")


def test_a_game_is_judged_while_one_steps_through_it(page):
    analyse(page, "savard", ["a3-a4", "a6-a5", "b3-b4", "b6-b5", "c3-c4", "c6-c5", "d3-d4", "d6-d5"], 8)
    # The slowest judge. The note that all is judged goes at the next step, so the test waits for what stays.
    page.choose("Who judges", "mcts:sims=1000")
    page.click_button("Judge the whole game", "#analyse")
    for _ in range(3):
        page.click("#analyse [aria-label='one action back']")
    page.show("play")
    page.show("analyse")
    page.wait("return $(`#analyse progress`).hidden && !$(`#analyse [aria-label='What went wrong']`).hidden")
    assert page.text("#analyse [aria-label='What went wrong']").count("of 4 choices") == 2
    # A single state that is judged is no game.
    page.click_button("Set up a position", "#analyse")
    page.click_button("Analyse from here", "dialog[open]")
    page.wait_text("#analyse .status", "After 0 of 0")
    page.wait_text("#analyse .verdict", "Player 2 to act")
    assert page.run("return $(`#analyse [aria-label='What went wrong']`).hidden")


def random_actions(folder, count):
    """Returns the first actions of a game of savard between random players, always the same."""
    program("match", "random", "random", "--ruleset", "savard", "--games", 2, "--seed", 1, "--quiet", "--ledger", folder / "games.jsonl")
    # Games are written in the order in which they end.
    records = map(json.loads, (folder / "games.jsonl").read_text().splitlines())
    return min((record["actions"] for record in records), key=len)[:count]


def test_a_game_near_a_draw_is_not_praised(page, tmp_path):
    actions = random_actions(tmp_path, 30)
    analyse(page, "savard", actions, len(actions))
    page.choose("Who judges", "net:sims=64")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "All 31 states are judged")
    wrong = page.text("#analyse [aria-label='What went wrong']")
    assert "accuracy " not in wrong and "In a game so near a draw" in wrong
    lost = [round(10 * float(one)) for one in re.findall(r"([\d.]+) points lost", wrong)]
    # The parts of the sum are those of the players, and make the whole but for rounding.
    _, _, total, *parts = [round(10 * float(one.replace("−", "-"))) for one in re.findall(r"[+−]?\d+\.\d", page.text(".accuracy + p"))]
    assert [-parts[0], parts[1]] == lost and abs(sum(parts) - total) <= 2
    # The largest losses are listed, however small.
    assert 0 < page.count(".mistakes li") <= 5
    taken = page.run("return $$(arguments[0]).flatMap((one) => one.textContent.split(' takes ')[1]?.split(', ') ?? [])", MOVES)
    assert len(taken) == sum(map(int, re.findall(r"pieces lost in the game: (\d+)", wrong))) > 0
    page.screenshot("near-a-draw.png")


def test_variations_branch_and_are_gone_back_to(page):
    analyse(page, "savard", ["a3-a4", "a6-a5", "b3-b4"], 1)
    page.click("#analyse [aria-label='one action back']")
    for name in ["c3", "c4"]:
        page.wait_for("#analyse .usable")
        page.click(f"#analyse [data-square={name}]")
    page.wait_text("#analyse .status", "Variation: after 1 of 1")
    # The same state is not branched twice, and a variation goes on where it is at its end.
    for squares in [["c6", "c5"], ["d3", "d4"]]:
        for name in squares:
            page.wait("return $(`#analyse [data-square=${arguments[0]}].usable`)", name)
            page.click(f"#analyse [data-square={name}]")
        page.wait_text("#analyse .variations", "-".join(squares))
    # The game stays.
    page.wait_for(MOVES, 3)
    assert page.run("return $$('.variations button.plain').map((one) => one.textContent)") == ["c3-c4", "c6-c5", "d3-d4", "×"]
    page.click_button("c3-c4", "#analyse .variations")
    for name in ["e6", "e5"]:
        page.wait("return $(`#analyse [data-square=${arguments[0]}].usable`)", name)
        page.click(f"#analyse [data-square={name}]")
    page.wait_for(".variations ul li", 1)
    assert "after 1:e6-e5" in page.text(".variations ul li")
    page.screenshot("variations.png")
    page.click_button("Back to the game", "#analyse")
    page.wait_text("#analyse .status", "After 0 of 3 actions")
    page.click_button("d3-d4", "#analyse .variations")
    page.wait_text("#analyse .status", "Variation: after 3 of 3")
    page.click(".variations [aria-label^='Remove the variation after 1']")
    page.wait_for(".variations ul li", 0)
    page.click(".variations [aria-label^='Remove the variation after 0']")
    page.wait_text("#analyse .status", "After 0 of 3 actions")
    # What is expected to follow becomes one by a click.
    page.click("#analyse .check input")
    page.click("#analyse .check input")
    page.wait_text("#analyse .verdict", "400 simulations")
    first, rest = page.run("const row = $('#analyse tbody'); return [row.querySelector('button').textContent, row.querySelector('.variation button').textContent]")
    page.click("#analyse tbody .variation button")
    page.wait_text("#analyse .status", "Variation: after 1 of ")
    assert page.run("return $$('.variations button.plain').map((one) => one.textContent)") == [first, *rest.split(), "×"]


def test_a_link_opens_the_same_state_elsewhere(page):
    analyse(page, "bell-8x8", ["@c3", "@d4", "@e5"], 2)
    page.wait_text("#analyse .status", "After 2 of 3 actions")
    page.click("#analyse [aria-label='one action on']")
    page.wait_text("#analyse .status", "After 3 of 3 actions")
    # The address follows, and the field has it.
    link = page.run("return $('#analyse [aria-label=\"A link to this game and state\"]').value")
    page.wait("return location.href === arguments[0]", link)
    page.get("about:blank")
    page.get(link)
    page.wait_text("#analyse .status", "After 3 of 3 actions")
    # A ruleset that another program does not have is in the link.
    settings(page)
    page.choose("Ruleset", "own")
    page.wait("return location.hash.includes('quiet_limit')")
    page.reopen(page.run("return location.hash.slice(1)"))
    page.wait_text("#analyse .status", "After 0 of 0 actions")
    page.wait_text("#analyse .notice", "in own: the network is near what it was trained on")
    # What a link says wrongly is told, and the game that is played is shown.
    for part, other, told in [("%40d4", "a1-a2", "action 2"), ("bell-8x8", "gone", "there is no ruleset"), ("bell-8x8", "savard", "has other rules here"),
                              ("/3", "", "a part of it is missing"), ("/3", "/x", "where the number of a state is expected"), ("/3", "/4", "it asks for state 4"),
                              ("/3", "/1.1", "where the number of a state is expected"), ("/3", "/1.1/x,y", "where a variation of the game is expected"),
                              ("/3", "/9.1/2,%40e5", "it asks for state 9 of a game of 3")]:
        page.get("about:blank")
        page.get(link.replace(part, other))
        page.wait_text("#fault", "The link cannot be opened: ")
        page.wait_text("#fault", told)
        page.wait_text("#analyse .status", "After 0 of 0 actions")
    assert all("404" in one or "422" in one for one in page.complaints())


def test_a_link_to_a_position_that_no_game_comes_to_says_so(page):
    analyse(page, "savard", start="m6d/8/8/8/8/8/8/D7 1")
    page.wait_text("#analyse .notice", "No game comes to the position where this one begins: player 1 has no men, and has lost by that.")
    page.reopen(address(page, "savard", start=WON))
    page.wait_text("#analyse .verdict", "Player 1 to act: c2-c3")
    assert "No game" not in page.text("#analyse .notice")


def test_a_link_to_a_variation_keeps_the_game(page):
    analyse(page, "savard", ["a3-a4", "a6-a5", "b3-b4"], 1)
    for squares in [["d6", "d5"], ["c3", "c4"]]:
        for name in squares:
            page.wait("return $(`#analyse [data-square=${arguments[0]}].usable`)", name)
            page.click(f"#analyse [data-square={name}]")
        page.wait_text("#analyse .variations", "-".join(squares))
    # A variation of the variation, and one of the game.
    for at, squares in [("d6-d5", ["e3", "e4"]), ("a3-a4", ["h6", "h5"])]:
        page.click_button(at, "#analyse .card")
        for name in squares:
            page.wait("return $(`#analyse [data-square=${arguments[0]}].usable`)", name)
            page.click(f"#analyse [data-square={name}]")
        page.wait_text("#analyse .variations", "-".join(squares))
    page.click_button("c3-c4", "#analyse .variations")
    page.wait_text("#analyse .status", "Variation: after 3 of 3")
    shown = "return [$('#analyse .status').textContent, $('#analyse .variations').textContent, $('#analyse input[readonly]').value]"
    before = page.run(shown)
    assert "after 1:d6-d5c3-c4" in before[1] and "after 2:e3-e4" in before[1] and "after 1:h6-h5" in before[1]
    link = page.run("return $('#analyse [aria-label=\"A link to this game and state\"]').value")
    page.wait("return location.href === arguments[0]", link)
    page.get("about:blank")
    page.get(link)
    page.wait_text("#analyse .status", "Variation: after 3 of 3")
    assert page.run(shown) == before and page.count(MOVES) == 3
    page.screenshot("link-to-a-variation.png")
    page.click_button("Back to the game", "#analyse")
    page.wait_text("#analyse .status", "After 1 of 3 actions")
    # A link to the game itself keeps them too, also when the page is loaded again.
    page.wait("return location.hash.split('/')[5] === '1'")
    page.refresh()
    page.wait_for("#analyse .variations li", 3)
    assert page.run("return $('#analyse .status').textContent") == "After 1 of 3 actions. "
    # What cannot be played of it is told, and the game is there.
    page.get("about:blank")
    page.get(link.replace("c3-c4", "c3-c9"))
    page.wait_text("#fault", "The link cannot be opened: action 3")
    page.wait_for(MOVES, 3)
    [refused] = page.complaints()
    assert "422" in refused


def test_actions_are_counted_alike_everywhere(page, tmp_path):
    page.open("studies")
    actions = actions_with_a_bonus_step(page, tmp_path)
    analyse(page, "dutch-8x8", actions, 0)
    numbers, counts = page.run("const turns = $$('#analyse .moves li'); return [turns.map((one) => Number(one.querySelector('.number').textContent)), turns.map((one) => one.querySelectorAll('button').length)]")
    assert max(counts) > 1 and numbers == [1 + sum(counts[:at]) for at in range(len(counts))]
    page.run("$$('#analyse .moves button').at(-1).click()")
    page.wait_text("#analyse .status", f"After {len(actions)} of {len(actions)} actions")
    page.choose("Who judges", "alphabeta:nodes=500")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "states are judged")
    # The number beside a loss is that of the list.
    [number, action] = page.run("return $('ol.mistakes button').textContent.split(/[. ]+/).slice(0, 2)")
    assert actions[int(number) - 1] == action
    assert "by actions" in page.text("#analyse figcaption")


def actions_with_a_bonus_step(page, folder):
    """Returns the first actions of a game of dutch-8x8, up to a turn of two actions and one beyond, always the same."""
    program("match", "random", "random", "--ruleset", "dutch-8x8", "--games", 2, "--seed", 1, "--quiet", "--ledger", folder / "games.jsonl")
    records = map(json.loads, (folder / "games.jsonl").read_text().splitlines())
    actions = max((record["actions"] for record in records), key=len)
    states = page.request("/api/game", {"ruleset": "dutch-8x8", "actions": actions})["states"]
    step = next(at for at, (before, state) in enumerate(zip(states, states[1:])) if state["to_act"] == before["to_act"])
    return actions[:step + 3]


def test_nothing_moves_while_one_steps_through_a_game(page, tmp_path):
    actions = random_actions(tmp_path, 16)
    place = """return ["#analyse .board", "#analyse .steps", "#analyse .curve", "#analyse [aria-label='What went wrong']", "#analyse .moves"].map(
        (one) => { const { top, height } = $(one).getBoundingClientRect(); return [Math.round(top), Math.round(height)]; })"""
    analyse(page, "savard", actions, 0)
    page.run("for (const one of $$('#analyse details')) one.open = false")
    page.click_button("Judge the whole game", "#analyse")
    page.wait_text("#analyse", "All 17 states are judged")
    for width, height in [(1280, 900), (390, 844)]:
        page.resize(width, height)
        page.click("#analyse [aria-label='to the beginning']")
        page.wait_text("#analyse .status", "After 0 of")
        page.run("scrollTo(0, 0)")
        before = page.run(place)
        for at in range(1, len(actions) + 1):
            page.run("""$("#analyse [aria-label='one action on']").click()""")
            page.wait_text("#analyse .status", f"After {at} of")
            assert page.run(place) == before, f"{width}: {at}"
            # What is expected to follow is not cut.
            assert page.run("return $$('#analyse .variation').every((one) => one.scrollWidth <= one.clientWidth)")
    page.screenshot("stepping-phone.png")


def test_a_state_is_judged_until_it_is_stopped(page):
    analyse(page, "dutch-8x8")
    page.click("#analyse .check + .check input")
    effort = "return Number(/([\\d,]+) simulations/.exec($('#analyse .verdict').textContent)?.[1].replace(/,/g, ''))"
    page.wait(f"{effort.replace('return ', 'return 1000 < ')}")
    before = page.run(effort)
    page.wait(f"{effort.replace('return ', 'return arguments[0] < ')}", before)
    page.click("#analyse .check + .check input")
    # It says why it has ended by itself.
    page.reopen(address(page, "savard", start=WON))
    page.wait_text("#analyse .verdict", "Player 1 to act: c2-c3")
    page.click("#analyse .check + .check input")
    page.wait_text("#analyse", "The search has ended: more would find the same.")


def test_the_list_of_moves_stands_at_the_state_that_is_shown(page, tmp_path):
    actions = random_actions(tmp_path, 100)
    page.open_play()
    page.run("localStorage.setItem('latrunculi.game', arguments[0])", json.dumps({"ruleset": "savard", "actions": actions}))
    page.reopen()
    page.wait_for("#play .moves button", 100)
    page.click_button("Analyse", "#play")
    page.wait_text("#analyse .status", "After 100 of 100")
    seen = """const list = $("#analyse .moves").getBoundingClientRect(), move = $("#analyse .moves [aria-current]")?.getBoundingClientRect();
        return move && move.top >= list.top && move.bottom <= list.bottom"""
    page.wait(seen)
    page.click("#analyse [aria-label='to the beginning']")
    page.wait("return $('#analyse .moves').scrollTop === 0")
    # The same by its link.
    page.reopen(address(page, "savard", actions, 60))
    page.wait_text("#analyse .status", "After 60 of 100")
    page.wait(seen)
