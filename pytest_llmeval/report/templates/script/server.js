// Asking the server that the page came from.

// Returns the JSON at an address; null where it is as it was the last time.
const tags = new Map();

async function fetched(address, { again = false } = {}) {
  const headers = again && tags.has(address) ? { "If-None-Match": tags.get(address) } : {};
  const response = await fetch(address, { headers, cache: "no-store" });
  if (response.status === 304) return null;
  if (!response.ok) throw new Error(await refusal(response));
  if (response.headers.has("ETag")) tags.set(address, response.headers.get("ETag"));
  return response.json();
}

async function posted(address, value) {
  const response = await fetch(address, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value) });
  if (!response.ok) throw new Error(await refusal(response));
  return response.json();
}

async function refusal(response) {
  if (response.headers.get("Content-Type") !== "application/json") return `the server answered ${response.status}`;
  return (await response.json()).problem;
}

// Calls `act` now and then while the page is seen: after so many milliseconds as it returns, else OFTEN; further and further apart
// while the server does not answer.
const OFTEN = 2000;
const SELDOM = 15000;

function every(act, troubled) {
  let wait = OFTEN;
  const turn = async () => {
    try {
      if (!document.hidden) {
        wait = (await act()) || OFTEN;
        troubled(null);
      }
    } catch (error) {
      wait = Math.min(SELDOM, wait * 2);
      troubled(error);
    }
    setTimeout(turn, wait);
  };
  setTimeout(turn);
}
