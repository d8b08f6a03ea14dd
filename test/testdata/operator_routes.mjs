// Serves the documented handlers with a registry that behaves as the framework's does: node operator_routes.mjs DIRECTORY.
// It prints the two addresses as JSON and ends with its standard input.
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";
import { join } from "node:path";

const load = (file) => import(pathToFileURL(join(process.argv[2], file)));
const { operatorServer } = await load("node-server.mjs");
const { withOperatorMethods } = await load("agent-object.mjs");
const worker = (await load("worker.mjs")).default;
const tokens = { readToken: "read-token-1", actToken: "act-token-2" };

class Registry {
  constructor(names) {
    const failed = (cause) => ({ state: "failed", lastError: cause, lastAttemptAt: Date.now() - 60_000, lastSuccessAt: Date.now() - 3_600_000 });
    this.entries = { fixed: failed("WorkspaceFailedError: quota"), still: failed("WorkspaceFailedError: no image"),
      open: { state: "open", lastAttemptAt: Date.now() - 9000, lastSuccessAt: Date.now() - 9000 }, "a/b ..%2f\u202e": failed("WorkspaceFailedError: quota"),
      explodes: failed("WorkspaceFailedError: quota") };
    this.names = names;
  }
  describe() {
    return this.names ? Object.entries(this.entries).map(([name, e]) => ({ name, ...e })) : this.entries;
  }
  reset(name) {
    const e = this.entries[name];
    if (name === "explodes") throw new Error("lost in the middle");
    e.lastAttemptAt = Date.now();
    if (name === "still") return;
    Object.assign(e, { state: "open", lastError: undefined, lastSuccessAt: Date.now() });
  }
}

const runs = [{ id: "s 1/x", status: "running", tenant: "acme" }, { id: "asleep", status: "paused" }];
const live = new Registry(true);
const executor = { getWorkspaceRegistry: (id) => (id === "s 1/x" ? live : undefined) };
const pages = { page: async (cursor) => (cursor ? { rows: runs.slice(1) } : { rows: runs.slice(0, 1), next: "second" }) };
const node = operatorServer({ executor, runs: pages, ...tokens });

let woken = 0;
class Agent {
  constructor() {
    woken++;
    this.registry = new Registry(false);
  }
}
const Wrapped = withOperatorMethods(Agent);
const objects = new Map();
const env = {
  READ_TOKEN: tokens.readToken,
  ACT_TOKEN: tokens.actToken,
  RUNS: {
    list: async ({ cursor }) => {
      const page = await pages.page(cursor);
      return { keys: page.rows.map(({ id, ...metadata }) => ({ name: id, metadata })), list_complete: !page.next, cursor: page.next };
    },
    getWithMetadata: async (id) => ({ value: "", metadata: runs.find((r) => r.id === id) ?? null }),
  },
  AGENTS: {
    idFromName: (name) => name,
    get: (name) => {
      if (!objects.has(name)) objects.set(name, new Wrapped());
      return objects.get(name);
    },
  },
};
const edge = createServer(async (req, res) => {
  const answer = await worker.fetch(new Request(`http://edge${req.url}`, { method: req.method, headers: { authorization: req.headers.authorization ?? "" } }), env);
  res.writeHead(answer.status, { ...Object.fromEntries(answer.headers), "x-woken": woken }).end(await answer.text());
});

const listening = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
console.log(JSON.stringify({ node: await listening(node), object: await listening(edge) }));
process.stdin.on("end", () => process.exit(0)).resume();
