// Questions to the program.

// Asks the program; throws with its sentence where it refuses. `isRefused` of the error tells that to ask again is of no use.
export async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const options = { method };
  if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers = { "content-type": "application/json" };
  }
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The program does not answer. Is it still running?");
  }
  const value = await answer.json().catch(() => ({ error: `The program answers ${answer.status}.` }));
  if (!answer.ok) throw Object.assign(new Error(value.error ?? `The program answers ${answer.status}.`), { isRefused: answer.status === 404 || answer.status === 422 });
  return value;
}

// A search that was given up.
export class GivenUp extends Error {}

// Lets an agent think. `tell` gets what it has found so far, `note` the sentence that its network does not know the ruleset, if
// there is one. The answer has `result`, which becomes the analysis, `stop()`, which makes it what has been found until then,
// and `giveUp()`, which ends it without a result.
export function think(request, tell = () => {}, note = () => {}) {
  let id = null;
  let isGivenUp = false;
  let isStopped = false;
  let isNoted = false;
  const end = () => id && ask(`/api/searches/${id}`, undefined, "DELETE").catch(() => {});
  const follow = async () => {
    ({ id } = await ask("/api/searches", request));
    if (isGivenUp || isStopped) end();
    let path = `/api/searches/${id}`;
    for (;;) {
      if (isGivenUp) throw new GivenUp();
      const news = await ask(path);
      if (isGivenUp) throw new GivenUp();
      if (news.phase === "failed") throw new Error(news.error);
      if (news.notice && !isNoted) note(news.notice);
      isNoted = Boolean(news.notice);
      if (news.analysis) tell(news.analysis);
      if (news.phase === "done") return news.analysis;
      path = `/api/searches/${id}?seen=${news.version}`;
    }
  };
  return {
    result: follow(),
    stop: () => { isStopped = true; end(); },
    giveUp: () => { isGivenUp = true; end(); },
  };
}

export const pause = (milliseconds) => new Promise((done) => setTimeout(done, Math.max(0, milliseconds)));

const rules = new Map();

// Returns what a ruleset is; asked for once.
export function rulesOf(key) {
  if (!rules.has(key)) {
    const asked = ask("/api/rules", { ruleset: key });
    asked.catch(() => rules.delete(key));
    rules.set(key, asked);
  }
  return rules.get(key);
}
