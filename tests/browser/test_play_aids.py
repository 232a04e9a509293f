"""What helps a person at the board: a first game, hints, who is ahead, placing the rest, a clock."""

from test_play import MOVES, move


def test_the_first_game_moves_at_once_and_says_what_it_is(page):
    page.open_play()
    page.wait_text("#play .status", "Your turn: choose a piece")
    told = page.text("#play > p")
    assert "Roman game" in told and "8x8: A man between two enemies" in told and "A player whose dux is taken has lost." in told


def test_another_ruleset_takes_effect_or_says_when(page):
    page.open_play()
    page.choose("Ruleset", "savard")
    page.wait("return stored().ruleset === 'savard'")
    page.choose("Player 2", "human")
    move(page, "a3", "a4")
    page.wait_for(MOVES, 1)
    page.choose("Ruleset", "bell")
    page.click_button("New game to play bell", "#play")
    assert page.run("return stored().ruleset") == "savard"
    page.click_button("Leave this game?", "#play")
    page.wait("return stored().ruleset === 'bell'")
    page.click_button("New game", "#play")


def test_the_rest_is_placed_for_a_person_or_at_random(page):
    page.open_play()
    page.begin("dutch-8x8-placement", "human", "greedy")
    page.click("#play [data-square=c3]")
    page.wait("return $$(arguments[0]).length > 0 && $('#play .status').textContent.startsWith('Your turn')", MOVES)
    # A state that is changed by hand keeps what is to be placed.
    page.click_button("Set up a position", "#play")
    page.click_button("Leave this game?", "#play")
    page.wait_for("dialog[open]")
    before = page.run("return $('dialog[open] input').value").split(" ")
    page.click("dialog[open] [data-square=e5]")
    after = page.run("return $('dialog[open] input').value").split(" ")
    assert before[0] != after[0] and before[1:] == after[1:] and "place:" in before[3]
    page.click_button("Cancel", "dialog[open]")
    page.click_button("Place the rest for me", "#play")
    # Nine pieces a side, and the first action after them is the person's own.
    page.wait_for(MOVES, 18)
    page.wait_text("#play .status", "Your turn: choose a piece")
    assert page.run("return stored().agents") == ["human", "greedy"]
    page.open_play()
    page.begin("dutch-8x8-placement", "human", "human")
    page.click_button("Place the rest at random", "#play")
    page.wait_for(MOVES, 18)
    page.wait_text("#play .status", "Player 1: choose a piece")


def test_a_hint_is_of_a_strong_agent_and_says_what_it_does_not_know(page):
    page.open_play()
    page.begin("own", "human", "net:sims=16")
    page.click_button("Hint", "#play")
    page.wait_text("#play .status", "A network that looked 400 times expects")
    page.wait_text("#play .notice", "in own: the network is near what it was trained on")
    assert page.text("#play .notice").count("in own") == 1
    # A program that has stopped gives none, and that is said.
    page.run("window.fetch = () => Promise.reject(new TypeError())")
    page.click_button("Hint", "#play")
    page.wait_text("#fault", "The program does not answer")
    assert "Looking for" not in page.text("#play .status")


def test_who_is_ahead_is_shown_until_it_is_switched_off(page):
    page.open_play()
    page.wait_for("#play .evaluation")
    page.begin("savard", "human", "human")
    page.run("localStorage.setItem('latrunculi.game', JSON.stringify({ ...stored(), start: arguments[0] }))", "7d/8/8/8/8/Mm6/2M5/D7 1")
    page.reopen()
    page.wait("return $('#play .evaluation')?.ariaLabel === 'Player 1 is expected to score 100 of 100 points'")
    page.click("#play .check input")
    page.wait("return $('#play .evaluation').hidden")
    page.reopen()
    page.wait_text("#play .status", "Player 1: ")
    assert page.run("return $('#play .evaluation').hidden")


def test_a_clock_ends_the_game(page):
    page.open_play()
    page.begin("savard", "human", "human")
    assert page.count("#play .time") == 0
    page.choose("Clock, for each side", "60+1")
    page.wait_for("#play .time", 2)
    # It begins with the first action.
    assert page.run("return $$('#play .time').map((one) => one.textContent)") == ["1:00", "1:00"]
    move(page, "a3", "a4")
    page.wait_for(MOVES, 1)
    page.wait("return $$('#play .time')[0].textContent < '1:00'")
    assert page.run("return $$('#play .time')[1].textContent") == "1:01"
    left = "return stored().clock.times[1][1]"
    page.click_button("Pause", "#play")
    assert page.run("return [$$('#play .usable').length, $('#play .status').textContent]") == [0, "Paused: player 2 is to act."]
    shown = page.run(left)
    # The game that is opened again waits; what was thought until the page was left is spent.
    page.click_button("Continue", "#play")
    page.wait("return parseInt($$('#play .time')[0].textContent.split(':')[1]) <= arguments[0]", int(shown) - 1)
    page.reopen()
    page.wait_text("#play .status", "Paused: player 2 is to act.")
    assert page.run(left) < shown - 0.5
    # As if a minute had passed. What is not there has the storage of the page, too, and does not write to it.
    page.get(f"{page.url}app/none")
    page.complaints()
    page.run("const game = stored(); game.clock.times[1][1] = 0.3; localStorage.setItem('latrunculi.game', JSON.stringify(game))")
    page.reopen()
    page.click_button("Continue", "#play")
    page.wait_text("#play .status", "Player 1 wins: player 2 ran out of time")
    page.click_button("Undo", "#play")
    page.wait_for(MOVES, 0)
    page.wait_text("#play .status", "Player 1: ")


def test_after_a_game_it_is_judged_and_played_on_from_a_state(page):
    page.open_play()
    page.begin("savard", "human", "human")
    move(page, "a3", "a4")
    page.wait_for(MOVES, 1)
    page.click_button("Resign", "#play")
    page.click_button("Really resign?", "#play")
    page.click_button("What went wrong?", "#play")
    page.wait_text("#analyse", "The state is judged.")
    page.click("#analyse [aria-label='one action back']")
    page.wait_text("#analyse .status", "After 0 of 1")
    page.click_button("Play from here", "#analyse")
    page.wait("return !$('#play').hidden && stored().actions.length === 0 && stored().ruleset === 'savard'")
    page.wait_text("#play .status", "Player 1: choose a piece")
