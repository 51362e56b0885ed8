// Applies migrations/ to the local D1 databases, in wrangler's own table, so that wrangler sees the same state.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { unstable_splitSqlQuery } from "wrangler";
import { d1Id } from "./config.mjs";
import { Mistake } from "./mistake.mjs";

const TABLE =
  "CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, " +
  "applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";

export async function applyMigrations(miniflare, configs) {
  const done = new Set();
  for (const config of configs) {
    for (const database of config.d1_databases) {
      if (done.has(d1Id(database))) continue;
      done.add(d1Id(database));
      const folder = resolve(dirname(config.configPath), database.migrations_dir ?? "migrations");
      if (existsSync(folder)) await apply(await miniflare.getD1Database(database.binding, config.name), folder);
    }
  }
}

async function apply(database, folder) {
  await database.prepare(TABLE).run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all();
  const applied = new Set(results.map(({ name }) => name));
  const names = readdirSync(folder).filter((name) => name.endsWith(".sql") && !applied.has(name)).sort();
  for (const name of names) {
    const statements = unstable_splitSqlQuery(readFileSync(resolve(folder, name), "utf8"));
    const mark = database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    try {
      await database.batch([...statements.map((sql) => database.prepare(sql)), mark]); // all of a file, or none of it
    } catch (error) {
      throw new Mistake(`migrations/${name}: ${error.message}`);
    }
  }
}
