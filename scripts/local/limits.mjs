// Cloudflare's limits that neither workerd nor Miniflare enforces. What would fail on Cloudflare fails here first, with the same
// text. Limits that they do enforce (sizes in KV, Queues, D1, Durable Objects and Workflows) are not repeated here.
//
// An invocation is one call from outside: a request, a cron, a batch of messages, an alarm, a call of a method. workerd carries
// it through promises and timers in an AsyncLocalStorage, and Python's event loop is told to do the same. All calls of a Durable
// Object share what they use, as on Cloudflare, where each new event tops the object's limits up.
import { AsyncLocalStorage } from "node:async_hooks";
import { waitWhileLocked } from "./locks.mjs";
import { D1_SEND } from "./private_interfaces.mjs";

// For each invocation. `fetches` are requests to the internet and calls of the edge cache, `services` are calls of bindings.
// developers.cloudflare.com/workers/platform/limits (#subrequests, #cpu-time) and /d1/platform/limits
export const PLANS = {
  free: { fetches: 50, services: 1000, queries: 50, processorMs: 10 },
  paid: { fetches: 10_000, services: 10_000, queries: 1000, processorMs: 30_000 },
};
// The variables that a deployment on the plan sets; see scripts/remote/free_plan.py.
export const PLAN_VARIABLES = { free: { PRELOAD_SUBREQUESTS: String(PLANS.free.fetches) }, paid: {} };
const CONNECTIONS = 6; // waiting for response headers at once; workers/platform/limits#simultaneous-open-connections
const KV_OPERATIONS = 1000; // for each invocation; kv/platform/limits
const KV_WRITE_GAP_MS = 1000; // between two writes to one key; kv/platform/limits
const BATCH_BYTES = 256_000; // of all messages of one sendBatch; queues/platform/limits (Miniflare allows 288,000)
const STEP_BYTES = 1024 * 1024; // of the result of a workflow's step; workflows/reference/limits
const PATIENCE_MS = 10_000; // after which a queued connection is reported; it changes nothing else

const TOO_MANY = {
  fetches: "Too many subrequests by single Worker invocation.",
  services: "Too many API requests by single Worker invocation.",
  queries: "Too many API requests by single Worker invocation.",
  kvOperations: "Too many API requests by single Worker invocation.",
};

// Returns the limits of a Worker: its config may set its own on the paid plan.
export function chooseLimits(plan, { cpu_ms: processorMs, subrequests } = {}) {
  const configured = plan === "paid" ? { ...(processorMs && { processorMs }), ...(subrequests && { fetches: subrequests, services: subrequests }) } : {};
  return { ...PLANS[plan], ...configured, kvOperations: KV_OPERATIONS };
}

class Invocation {
  connections = 0;
  queue = [];

  constructor(limits, report) {
    this.limits = limits;
    this.report = report;
    this.topUp();
  }

  topUp() {
    this.used = { fetches: 0, services: 0, queries: 0, kvOperations: 0 };
    this.processorMs = 0;
  }

  count(kind, amount = 1) {
    this.used[kind] += amount;
    if (this.used[kind] > this.limits[kind]) throw new Error(TOO_MANY[kind]);
  }

  // Runs `work` when fewer than six connections wait for their headers. On Cloudflare, too, all others stand in a queue.
  async connect(work) {
    if (this.connections < CONNECTIONS) this.connections += 1;
    else await this.takeTurn();
    try {
      return await work();
    } finally {
      const next = this.queue.shift();
      if (next) next();
      else this.connections -= 1;
    }
  }

  async takeTurn() {
    const text = `a connection waits behind ${CONNECTIONS} others that have no response yet; if these wait for it, none of them ever ends`;
    const timer = setTimeout(() => this.report(text), PATIENCE_MS);
    await new Promise((resolve) => this.queue.push(resolve));
    clearTimeout(timer);
  }

  addProcessorTime(ms) {
    const { processorMs } = this.limits;
    if (this.processorMs <= processorMs && this.processorMs + ms > processorMs) this.report(`more than ${processorMs} ms of processor time in one invocation`);
    this.processorMs += ms;
  }
}

// Counts what the code of one Worker does. `report` prints a line; `namespaces` has the id of each KV binding; `operations` counts
// what is billed.
export class LimitKeeper {
  #invocations = new AsyncLocalStorage();
  #guarded = new WeakSet();
  #namespaces = new WeakMap();
  #writtenAt = new Map();

  constructor(limits, namespaces, report, operations) {
    Object.assign(this, { limits, namespaces, report, operations });
  }

  begin() {
    return new Invocation(this.limits, this.report);
  }

  run(invocation, work) {
    return this.#invocations.run(invocation, () => this.#measure(work));
  }

  // Returns a function that runs in the invocation that is current now, and whose processor time counts there.
  bind(work) {
    const invocation = this.#invocations.getStore();
    return invocation ? (...args) => this.run(invocation, () => work(...args)) : work;
  }

  #measure(work) {
    const start = performance.now();
    try {
      return work();
    } finally {
      this.#invocations.getStore().addProcessorTime(performance.now() - start);
    }
  }

  guardGlobals() {
    const { fetch } = globalThis;
    globalThis.fetch = (...args) => {
      this.operations.add("fetches");
      return this.#call({ fetches: 1 }, () => fetch(...args), true);
    };
    this.#guard(Cache.prototype, ["match", "put", "delete"], (_cache, _args, call) => this.#call({ fetches: 1 }, call, true));
    this.#guardSockets();
  }

  // The events of a socket belong to the invocation that listens.
  #guardSockets() {
    const bound = new WeakMap();
    const bind = (listener) => bound.get(listener) ?? bound.set(listener, this.bind(listener)).get(listener);
    const { addEventListener, removeEventListener } = EventTarget.prototype;
    WebSocket.prototype.addEventListener = function (type, listener, ...rest) {
      return addEventListener.call(this, type, bind(listener), ...rest);
    };
    WebSocket.prototype.removeEventListener = function (type, listener, ...rest) {
      return removeEventListener.call(this, type, bound.get(listener) ?? listener, ...rest);
    };
  }

  // Replaces the methods of the bindings on their prototypes, so that they stay what they are for everyone who looks at them.
  guardBindings(env, ...copies) {
    for (const [name, binding] of Object.entries(env)) {
      const kind = binding?.constructor?.name;
      if (kind === "KvNamespace") this.#guardKv(binding, this.namespaces[name]);
      else if (kind === "R2Bucket") this.#guardR2(binding);
      else if (kind === "WorkerQueue") this.#guardQueue(binding);
      else if (kind === "D1Database") this.#guardD1(binding);
      else if (kind === "WorkflowImpl") this.#guardCalls(binding, ["get", "create", "createBatch"]);
      else if (kind === "DurableObjectNamespace") this.#guardStubs(binding);
      else if (kind === "Fetcher" && !this.#guarded.has(binding)) for (const target of [env, ...copies]) target[name] = this.#wrapStub(binding);
    }
  }

  // The engine calls the function of a step from outside; it belongs to the invocation of the workflow's `run`.
  bindStep(step) {
    const bindArgument = (name, value) => (typeof value === "function" ? this.bind((...args) => checkResult(name, value(...args))) : value);
    return new Proxy(step, {
      get: (target, method) => (method === "do" ? (name, ...rest) => (this.operations.add("workflow_steps"), target).do(name, ...rest.map((each) => bindArgument(name, each))) : Reflect.get(target, method)),
    });
  }

  async #call(amounts, call, connects = false) {
    const invocation = this.#invocations.getStore();
    if (!invocation) return call();
    for (const [kind, amount] of Object.entries(amounts)) invocation.count(kind, amount);
    return connects ? invocation.connect(call) : call();
  }

  #guard(prototype, names, replace) {
    if (this.#guarded.has(prototype)) return;
    this.#guarded.add(prototype);
    for (const name of names) {
      const method = prototype[name];
      prototype[name] = function (...args) {
        return replace(this, args, () => method.apply(this, args), name);
      };
    }
  }

  #guardCalls(binding, names) {
    this.#guard(Object.getPrototypeOf(binding), names, (_binding, _args, call) => this.#call({ services: 1 }, call));
  }

  #guardKv(binding, id) {
    this.#namespaces.set(binding, id);
    const prototype = Object.getPrototypeOf(binding);
    this.#guard(prototype, ["get", "getWithMetadata", "list", "put", "delete"], (namespace, args, call, name) => {
      const [key] = args;
      this.operations.addKv(name, key);
      const isWrite = name === "put" || name === "delete";
      const send = () => this.#store(args, call);
      const paced = isWrite ? () => this.#pace(`${this.#namespaces.get(namespace)}/${key}`, name, send) : send;
      return this.#call({ services: 1, kvOperations: 1 }, paced, true);
    });
  }

  #guardR2(binding) {
    this.#guard(Object.getPrototypeOf(binding), ["head", "get", "put", "delete", "list"], (_bucket, args, call, name) => {
      this.operations.addR2(name);
      return this.#call({ services: 1 }, () => this.#store(args, call), true);
    });
  }

  // A stream can be sent only once.
  #store(args, call) {
    return args.some((each) => each instanceof ReadableStream) ? call() : waitWhileLocked(call, this.report);
  }

  #pace(key, name, call) {
    const now = Date.now();
    for (const [other, at] of this.#writtenAt) if (now - at >= KV_WRITE_GAP_MS) this.#writtenAt.delete(other);
    if (this.#writtenAt.has(key)) throw new Error(`KV ${name.toUpperCase()} failed: 429 Too Many Requests`);
    this.#writtenAt.set(key, now);
    return call();
  }

  #guardQueue(binding) {
    this.#guard(Object.getPrototypeOf(binding), ["send", "sendBatch"], (_queue, [body], call, name) => {
      this.operations.addSent(name, body);
      const send = () => {
        if (name === "sendBatch" && measureBatch(body) > BATCH_BYTES) throw new Error("Queue sendBatch failed: Payload Too Large");
        return call();
      };
      return this.#call({ services: 1 }, send, true);
    });
  }

  // `batch` of the database calls `batch` of its session. Each statement of a batch is a query.
  #guardD1(binding) {
    const one = (_statement, _args, call) => this.#call({ services: 1, queries: 1 }, () => waitWhileLocked(call, this.report));
    this.#guard(Object.getPrototypeOf(binding), ["exec"], one);
    this.#guard(Object.getPrototypeOf(binding.prepare("SELECT 1")), ["first", "run", "all", "raw"], one);
    const session = Object.getPrototypeOf(binding.withSession());
    this.#guard(session, ["batch", D1_SEND], (_session, [statements], call, name) =>
      name === D1_SEND ? this.#countRows(call()) : this.#call({ services: 1, queries: statements.length }, () => waitWhileLocked(call, this.report)),
    );
  }

  // Every statement passes here, whichever method was called, and only here are its rows known.
  async #countRows(pending) {
    const results = await pending;
    this.operations.addRows(results);
    return results;
  }

  #guardStubs(binding) {
    const prototype = Object.getPrototypeOf(binding);
    this.#guard(prototype, ["get", "getByName"], (_namespace, _args, call) => this.#wrapStub(call(), "object_requests"));
  }

  // The methods of a stub are not known, so a proxy stands for it.
  #wrapStub(stub, operation) {
    const proxy = new Proxy(stub, {
      get: (target, name) => {
        const value = Reflect.get(target, name);
        if (typeof name !== "string" || name === "constructor" || typeof value !== "function") return value;
        return (...args) => {
          this.operations.add(operation);
          return this.#call({ services: 1 }, () => target[name](...args));
        };
      },
    });
    this.#guarded.add(proxy);
    return proxy;
  }
}

// Miniflare refuses a result only when SQLite does, beyond 2 MB.
async function checkResult(name, pending) {
  const result = await pending;
  if (measureJson(result) > STEP_BYTES) throw new Error(`Step ${name} output is too large. Maximum allowed size is 1MiB.`);
  return result;
}

const encoder = new TextEncoder();
const measureJson = (value) => encoder.encode(JSON.stringify(value) ?? "").length;
function measureBatch(messages) {
  const measure = ({ body, contentType = "json" }) =>
    contentType === "json" ? measureJson(body) : contentType === "text" ? encoder.encode(body).length : (body.byteLength ?? 0);
  return [...messages].reduce((total, message) => total + measure(message), 0);
}
