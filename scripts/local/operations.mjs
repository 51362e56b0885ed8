// Counts what Cloudflare bills, for each Worker: `./scripts/bench cost` reads it at /cdn-cgi/local/operations.
const R2_CLASSES = { put: "r2_class_a", list: "r2_class_a", get: "r2_class_b", head: "r2_class_b" }; // deletions are free
const KV_KINDS = { get: "kv_reads", getWithMetadata: "kv_reads", put: "kv_writes", delete: "kv_deletes", list: "kv_lists" };
// A tail Worker is billed by its processor time alone.
const INVOCATIONS = { WorkerEntrypoint: { fetch: "requests", scheduled: "requests", queue: "requests" }, WorkflowEntrypoint: { run: "requests" }, DurableObject: { alarm: "object_requests" } };

export class Operations {
  counts = {};
  #watched = new WeakSet();

  add(kind, amount = 1) {
    if (kind && amount) this.counts[kind] = (this.counts[kind] ?? 0) + amount;
  }

  // A call of a Worker, object or workflow from outside. Each message is read once and deleted once.
  addInvocation(kind, name, [first]) {
    this.add(INVOCATIONS[kind]?.[name]);
    if (name === "queue") this.add("queue_operations", 2 * first.messages.length);
  }

  addKv = (name, key) => this.add(KV_KINDS[name], Array.isArray(key) ? key.length : 1); // a bulk read is billed by key
  addR2 = (name) => this.add(R2_CLASSES[name]);
  addSent = (name, body) => this.add("queue_operations", name === "sendBatch" ? [...body].length : 1);

  addRows(results) {
    for (const { meta } of [results].flat()) {
      this.add("d1_queries"); // not billed, but limited
      this.add("d1_rows_read", meta?.rows_read);
      this.add("d1_rows_written", meta?.rows_written);
    }
  }

  // The storage of an object: rows are known when a cursor has been read. Setting an alarm is a row written.
  watchStorage(storage) {
    const { sql } = storage;
    if (!sql) return;
    const rows = new WeakMap();
    const count = (cursor) => {
      const [read, written] = rows.get(cursor) ?? [0, 0];
      rows.set(cursor, [cursor.rowsRead, cursor.rowsWritten]);
      this.add("object_rows_read", cursor.rowsRead - read);
      this.add("object_rows_written", cursor.rowsWritten - written);
    };
    this.#watch(Object.getPrototypeOf(storage), ["setAlarm"], () => this.add("object_rows_written"));
    this.#watch(Object.getPrototypeOf(sql), ["exec"], (_sql, cursor) => {
      this.#watch(Object.getPrototypeOf(cursor), ["toArray", "one"], (read) => count(read));
      count(cursor);
    });
  }

  #watch(prototype, names, note) {
    if (this.#watched.has(prototype)) return;
    this.#watched.add(prototype);
    for (const name of names) {
      const method = prototype[name];
      prototype[name] = function (...args) {
        const result = method.apply(this, args);
        note(this, result);
        return result;
      };
    }
  }
}
