"""What a person does in Play besides moving."""

import json
import time

from selenium.webdriver.common.keys import Keys

MOVES = "#play .moves button"


def move(page, first, second):
    """Moves a piece by two clicks."""
    for square in [first, second]:
        page.click(f"#play [data-square={square}]")


def test_undo_hint_resign_change_sides_and_reload(page):
    page.open_play()
    page.begin("savard", "human", "greedy")
    page.click_button("Hint", "#play")
    page.wait_text("#play .status", "Hint: ")
    assert page.count("#play .arrow") == 1
    move(page, "a3", "a4")
    page.wait_for(MOVES, 2)
    page.click_button("Undo", "#play")
    page.wait_for(MOVES, 0)
    page.click_button("Change sides", "#play")
    page.wait_for(MOVES, 1)
    page.wait_text("#play .status", "Your turn")
    # The game is there again when the page is loaded again.
    page.reopen()
    page.wait_for(MOVES, 1)
    page.click_button("Resign", "#play")
    page.click_button("Really resign?", "#play")
    page.wait_text("#play .status", "Player 1 wins: player 2 resigned")
    assert page.run("return stored().resigned") == 2
    assert page.count("#play .side.to-act") == 0


def test_a_square_where_nothing_can_be_done_says_why(page):
    page.open_play()
    page.begin("savard", "human", "human")
    for square, reason in [("a8", "that piece is not yours."), ("d4", "there is no piece on d4."), ("a1", "the piece on a1 cannot move now.")]:
        page.click(f"#play [data-square={square}]")
        assert page.text("#play .status") == page.text("#said") == f"Player 1: {reason}"
    # The piece that is taken up stays so.
    move(page, "a3", "h4")
    assert page.text("#play .status") == "Player 1: a3 can go to a4."
    page.click("#play [data-square=a4]")
    page.wait_for(MOVES, 1)
    assert page.text("#play .status") == "Player 2: choose a piece."
    page.show("analyse")
    page.wait_for("#analyse .usable")
    page.click("#analyse [data-square=a4]")
    page.wait_text("#analyse .status", "After 1 of 1 actions: that piece is not yours.")


def test_a_game_that_cannot_be_opened_now_is_kept(page):
    page.open_play()
    kept = {"ruleset": "runs/gone/own", "actions": ["a3-a4"]}
    page.run("localStorage.setItem('latrunculi.game', arguments[0])", json.dumps(kept))
    page.reopen()
    page.wait_for("#play [data-square]")
    page.wait_text("#play .status", "Your turn")
    assert page.run("return stored()") == kept
    page.wait_text("#fault", "Your game of runs/gone/own is kept until you play here")


def test_a_game_whose_ruleset_has_changed_is_kept_and_not_played_on(page):
    page.open_play()
    page.begin("own", "human", "human")
    page.click("#play [data-square=c3]")
    page.wait_for(MOVES, 1)
    kept = page.run("return stored()")
    # As if the file had been edited since.
    page.run("localStorage.setItem('latrunculi.game', arguments[0])", json.dumps({**kept, "fingerprint": "00000000"}))
    page.reopen()
    page.wait_text("#fault", "has other rules here than in this game")
    assert page.run("return stored().actions") == kept["actions"]


def test_an_address_of_no_part_shows_one(page):
    for address, shown in [("runs/50%", "runs"), ("constructor", "play")]:
        page.open(address)
        page.wait("return !$(`#${arguments[0]}`).hidden", shown)


def test_what_an_address_says_too_much_is_told(page):
    for address, told, kept in [("play/x", "“x” in the address says nothing here. Play has one address alone.", "#play"),
                                ("play?y=1", "“?y=1” in the address says nothing here.", "#play"),
                                ("rulesets/bell/savard/c", "“c” in the address says nothing here. An address names one ruleset, or two side by side.", "#rulesets/bell/savard"),
                                ("rulesets?z", "“?z” in the address says nothing here.", "#rulesets"),
                                ("studies/shipped/bell/c", "“c” in the address says nothing here. An address names a study, and a ruleset of it", "#studies/shipped/bell"),
                                ("studies/shipped/nosuch", "The report has no ruleset or part nosuch.", "#studies/shipped")]:
        page.open(address)
        page.wait_text("#fault", told)
        page.wait("return location.hash === arguments[0]", kept)


def test_the_link_to_the_content_stays_in_its_part(page):
    page.open("studies")
    page.wait("return !$('#studies').hidden")
    page.run("$('.skip').click()")
    assert page.run("return [location.hash, document.activeElement.id]") == ["#studies", "main"]


def test_a_game_under_way_is_not_left_by_one_click(page):
    page.open_play()
    page.begin("bell", "human", "human")
    page.click("#play [data-square=c3]")
    page.wait_for(MOVES, 1)
    page.click_button("Set up a position", "#play")
    assert page.count("dialog[open]") == 0
    page.click_button("Leave this game?", "#play")
    page.wait_for("dialog[open]")
    page.click_button("Cancel", "dialog[open]")
    page.click_button("New game", "#play")
    page.wait_for(MOVES, 1)
    page.click_button("Leave this game?", "#play")
    page.wait_for(MOVES, 0)


def test_a_seed_of_64_bits_is_kept(page):
    page.open_play()
    game = {"ruleset": "bell", "actions": [], "agents": ["human", "human"], "seed": "18446744073709551615"}
    assert "18446744073709551615" in page.request("/api/record", game)["line"]


def test_a_game_goes_on_after_a_search_that_failed(page):
    page.open_play()
    page.begin("savard", "human", "greedy")
    page.run("""const ask = window.fetch;
        window.mend = () => { window.fetch = ask; };
        window.fetch = (path, ...rest) => (path === "/api/searches" ? Promise.reject(new TypeError()) : ask.call(window, path, ...rest));""")
    move(page, "a3", "a4")
    page.wait_text("#play .status", "Paused")
    page.run("window.mend()")
    page.click_button("Continue", "#play")
    page.wait_for(MOVES, 2)
    page.wait_text("#play .status", "Your turn")


def test_the_keyboard_alone_plays(page):
    page.open_play()
    page.begin("savard", "human", "human")
    page.run("$('#play [data-square=a1]').focus()")
    page.press(Keys.UP, Keys.UP, Keys.ENTER, Keys.UP, Keys.ENTER)
    page.wait_text(MOVES, "a3-a4")
    assert page.run("return $('#play [data-square=a4]').ariaLabel") == "a4, player 1's man, moved last"
    assert page.run("return document.activeElement.dataset.square") == "a4"


def test_a_network_that_does_not_know_the_ruleset_is_named(page):
    page.open_play()
    page.begin("own", "net:sims=16", "human")
    page.wait_text("#play .notice", "in own: the network is near what it was trained on")
    page.choose("Player 1", "human")
    page.wait("return $('#play .notice').hidden")


def test_two_agents_play_and_are_paused(page):
    page.open_play()
    page.begin("own", "random", "greedy")
    page.wait("return $$(arguments[0]).length >= 3", MOVES)
    page.click_button("Pause", "#play")
    page.wait_text("#play .status", "Paused")
    played = page.count(MOVES)
    time.sleep(1)
    assert page.count(MOVES) == played
    page.click_button("Continue", "#play")
    page.wait("return $$(arguments[0]).length > arguments[1]", MOVES, played)
    # Opened again it waits.
    page.reopen("play")
    page.wait_text("#play .status", "Paused")
    page.choose("Speed", "0")
    page.click_button("Continue", "#play")
    page.wait("return /wins|Drawn/.test($('#play .status').textContent)")
    assert page.count("#play select") == page.count("#play label:not([hidden]) select") + 1


def test_a_game_in_two_tabs_is_not_overwritten_silently(page):
    page.open_play()
    page.begin("savard", "human", "human")
    move(page, "a3", "a4")
    page.wait_for(MOVES, 1)
    first = page.current_window_handle
    page.switch_to.new_window("tab")
    second = page.current_window_handle
    try:
        page.get(f"{page.url}#play")
        page.wait_for(MOVES, 1)
        # The same game: the first tab takes over what was played here.
        move(page, "a6", "a5")
        page.wait_for(MOVES, 2)
        page.switch_to.window(first)
        page.wait_text("#play .status", "This game has gone on in another tab")
        assert page.count("#play .usable") == 0
        page.screenshot("two-tabs.png")
        page.click_button("Go on here", "#play")
        page.wait_for(MOVES, 2)
        # Another game there: this one is still here, and kept when it goes on.
        page.switch_to.window(second)
        page.choose("Ruleset", "bell")
        page.click_button("New game to play bell", "#play")
        page.click_button("Leave this game?", "#play")
        page.wait("return stored().ruleset === 'bell'")
        page.switch_to.window(first)
        page.wait_text("#play .status", "Another tab of the page plays bell")
        assert page.run("return stored().ruleset") == "bell"
        page.click_button("Go on here", "#play")
        page.wait_text("#play .status", "Player 1: choose a piece.")
        assert page.run("return [stored().ruleset, stored().actions.length]") == ["savard", 2]
        page.switch_to.window(second)
        page.wait_text("#play .status", "Another tab of the page plays savard")
    finally:
        page.switch_to.window(second)
        page.close()
        page.switch_to.window(first)


def test_a_position_is_set_up_and_pasted(page):
    page.open_play()
    page.begin("savard", "human", "human")
    page.click_button("Set up a position", "#play")
    page.click_button("Empty the board", "dialog[open]")
    for tool, square in [("Player 1’s dux", "a1"), ("Player 2’s dux", "h8"), ("Player 1’s man", "a3"), ("Player 2’s man", "b3"), ("Player 1’s man", "c2")]:
        page.click_button(tool, "dialog[open]")
        page.click(f"dialog[open] [data-square={square}]")
    page.screenshot("set-up.png")
    page.click_button("Play from here", "dialog[open]")
    page.wait_for("dialog[open]", 0)
    move(page, "c2", "c3")
    page.wait_text("#play .status", "Player 1 wins: all men captured")
    assert "takes b3" in page.text("#play .moves")


def test_a_position_from_which_no_game_goes_on_is_not_set_up(page):
    page.open_play()
    page.begin("savard", "human", "human")
    page.click_button("Set up a position", "#play")
    fault = "dialog[open] .fault"
    can_play = "return !$('dialog[open] button.main').disabled"
    page.wait(can_play)
    # It is said at once, and the button cannot be pressed.
    page.click_button("Empty the board", "dialog[open]")
    page.wait_text(fault, "Player 1 has no pieces.")
    assert "Player 2 has no pieces." in page.text(fault) and not page.run(can_play)
    line = "const line = $('dialog[open] input'); line.value = arguments[0]; line.dispatchEvent(new Event('input'))"
    for position, told in [("8/8 1", "rank"), ("m6d/8/8/8/8/8/8/D7 1", "Player 1 has no men, and has lost by that."), ("mmmmdmmm/8/8/MMMMMMMM/MMMMMMMM/MMMMMMMM/8/D7 1", "Player 1 has 24 men, but begins with 23."),
                           ("m6d/8/8/8/8/8/8/DM6 1 - move - 1000", "The game is over here: "), ("m6d/8/8/8/8/8/8/DM6 3", "player to act")]:
        page.run(line, position)
        page.wait_text(fault, told)
        assert not page.run(can_play)
    page.screenshot("set-up-refused.png")
    page.run(line, "m6d/8/8/8/8/8/8/DM6 2")
    page.wait(can_play)
    assert page.text(fault) == ""
    page.click_button("Play from here", "dialog[open]")
    page.wait_text("#play .status", "Player 2: choose a piece.")


def test_the_board_stays_where_it_is_while_a_game_is_played(page):
    place = """return ["#play .board", "#play .status", "#play .steps"].map((one) => JSON.stringify($(one).getBoundingClientRect()))"""
    for width, height in [(1280, 900), (390, 844)]:
        page.resize(width, height)
        page.open_play()
        page.begin("dutch-8x8-placement", "human", "net:sims=16")
        page.wait_text("#play .status", "Your turn")
        # The places are noted whenever something of the part changes, until the third placement of each side.
        page.run(f"window.places = new Set(); const note = () => window.places.add((() => {{ {place} }})().join()); note();"
                 "new MutationObserver(note).observe($('#play'), { subtree: true, childList: true, attributes: true, characterData: true })")
        for square in ["c3", "d3", "e3"]:
            page.wait("return $(`#play [data-square=${arguments[0]}].usable`)", square)
            page.run("$(`#play [data-square=${arguments[0]}]`).click()", square)
            page.wait("return $$('#play .moves button').some((one) => one.textContent.endsWith(arguments[0]))", square)
        assert page.run("return window.places.size") == 1, f"{width}: {page.run('return [...window.places]')}"
