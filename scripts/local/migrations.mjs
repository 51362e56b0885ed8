// Applies migrations/ to the local D1 databases and records them in wrangler's own table, so that wrangler sees the same state.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { unstable_splitSqlQuery } from "wrangler";
import { d1Id } from "./config.mjs";
import { waitWhileLocked } from "./locks.mjs";
import { printPlain } from "./logs.mjs";
import { UserError } from "./user_error.mjs";

const TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, " +
  "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

export async function applyMigrations(miniflare, configs) {
  const migrated = new Set();
  for (const config of configs) {
    for (const database of config.d1_databases) {
      if (migrated.has(d1Id(database))) continue;
      migrated.add(d1Id(database));
      const folder = resolve(dirname(config.configPath), database.migrations_dir ?? "migrations");
      if (!existsSync(folder)) continue;
      const opened = await miniflare.getD1Database(database.binding, config.name);
      await waitWhileLocked(() => applyFolder(opened, folder), printPlain); // what it has done already it does not do again
    }
  }
}

async function applyFolder(database, folder) {
  await database.prepare(TABLE).run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all();
  const applied = new Set(results.map(({ name }) => name));
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql") && !applied.has(name)).sort();
  for (const name of names) {
    const statements = unstable_splitSqlQuery(readFileSync(resolve(folder, name), "utf8"));
    const record = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    try {
      await database.batch([...statements.map((sql) => database.prepare(sql)), record]); // one transaction for each file
    } catch (error) {
      throw new UserError(`migrations/${name}: ${error.message}`);
    }
  }
}
