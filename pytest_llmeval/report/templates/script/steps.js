// What happened between sample and score, each thing once and in its order: messages that are new, replies with their calls,
// below each call what the tool gave. A conversation repeats with every request what was said before; that is left out here.

const textOf = (message) => message.parts.filter((part) => part.image === undefined).map(beginning).join("\n");

function parsed(text) {
  try { return JSON.parse(text); } catch { return undefined; }
}

// Whether a tool was used with the arguments of a call: the same text, the same JSON, or the one argument that the tool takes.
function isUseOf(call, use) {
  const [written, input] = [beginning(call.arguments), beginning(use.input)];
  const given = parsed(written);
  if (written === input) return true;
  if (given === null || typeof given !== "object") return false;
  return Object.values(given).includes(input) || JSON.stringify(given) === JSON.stringify(parsed(input));
}

const givenBy = (use) => beginning(use.error ?? use.output);
const ROOM_TO_TELL = 200;

class Steps {
  constructor(evidence) {
    this.messages = evidence.messages;
    this.steps = [];
    this.replies = [];
    this.seen = new Set();
    (evidence.events || []).forEach((event, number) => this.event(event, number));
  }

  event(event, number) {
    if (event.event === "tool_use") this.use(event, number);
    else if (event.event === "note") this.steps.push({ kind: "note", event, number });
    else {
      this.asked(event, number);
      const calls = event.reply ? event.reply.tools.map((call) => ({ call, uses: [], told: null })) : [];
      const step = { kind: event.reply ? "reply" : "failed", event, number, calls, loose: [] };
      this.steps.push(step);
      if (event.reply) this.replies.push(step);
    }
  }

  use(event, number) {
    const reply = this.replies.findLast((step) => step.event.stage === event.stage) || this.replies.at(-1);
    const calls = reply?.calls || [];
    const free = calls.filter((one) => !one.uses.length);
    const call = free.find((one) => isUseOf(one.call, event)) || free[0] || calls.at(-1);
    if (call) call.uses.push({ event, number });
    else {
      const step = { kind: "tool", event, number, told: null, toldBelow: false };
      this.steps.push(step);
      reply?.loose.push(step);
    }
  }

  // The messages of a request: those that repeat a reply are known, those that tell a call's result stand below the call.
  asked(event, number) {
    let reply = null;
    for (const place of event.messages) {
      const message = this.messages[place];
      const from = reply ? this.replies.indexOf(reply) + 1 : 0;
      const repeated = this.seen.has(place) && message.role !== "assistant" ? undefined : this.repeated(message, from);
      reply = repeated || reply;
      if (!this.seen.has(place) && !repeated && !this.toldOf(reply, message)) this.steps.push({ kind: "message", event, number, message });
      this.seen.add(place);
    }
  }

  repeated(message, from) {
    const text = textOf(message);
    return this.replies.find(({ event: { reply } }, at) => at >= from && (text || message.tools.length) && beginning(reply.text) === text && reply.tools.length === message.tools.length);
  }

  // Whether a message tells what tools gave after a reply, so that it stands with them.
  toldOf(reply, message) {
    if (!reply) return false;
    if (message.role === "tool") {
      const call = reply.calls.find((one) => one.told === null);
      if (call) call.told = message;
      return call !== undefined;
    }
    const text = textOf(message);
    const given = reply.loose.map((step) => givenBy(step.event));
    const length = given.reduce((sum, one) => sum + one.length + ROOM_TO_TELL, 0);
    if (!given.length || text.length > length || !given.every((one) => one && text.includes(one))) return false;
    reply.loose.forEach((step) => { step.toldBelow = true; });
    reply.loose.at(-1).told = message;
    return true;
  }
}

const stepsOf = (evidence) => new Steps(evidence).steps;
