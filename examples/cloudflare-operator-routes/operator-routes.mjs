// Routes for operators beside the bridge of @cloudflare/sandbox, in the same Worker. None of them starts a container:
//   GET  /ops/sandboxes?cursor=           the sandboxes that have a container, with the state that their object stored
//   GET  /ops/sandboxes/{id}              one of them
//   GET  /ops/sandboxes/{id}/processes    what runs in it; 409 where no container runs
//   POST /ops/sandboxes/{id}/stop         asks its container to end; 409 where none runs

const json = (status, body) =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", "cache-control": "no-store" } });

// Digests all have one length, and how long it takes to compare them says nothing about the key.
async function holds(request, key) {
  if (!key) return false; // without a key the routes are closed, not open
  const digest = async (text) => new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const [given, wanted] = await Promise.all([digest(request.headers.get("authorization") ?? ""), digest(`Bearer ${key}`)]);
  return given.every((byte, i) => byte === wanted[i]);
}

// The pool keeps which sandbox has which container in a Map that no route of the bridge reveals.
export const withAssignments = (Pool) =>
  class extends Pool {
    async operatorAssignments() {
      await this.init?.();
      if (!(this.assignments instanceof Map)) throw new Error("this version of the pool keeps its assignments elsewhere");
      return [...this.assignments];
    }
  };

// pool is the stub of the pool's object, objects the namespace of the sandboxes, pageSize how many objects one page asks. sleepAfter is
// what your Worker sets for all of them, such as "10m"; left out, nothing is said of it.
export function operatorRoutes({ key, pool, objects, prefix = "/ops", className = "Sandbox", pageSize = 200, sleepAfter }) {
  const stubOf = (container) => objects.get(objects.idFromName(container));

  async function told([id, container]) {
    const object = { id, container, instance: objects.idFromName(container).toString(), class: className, sleepAfter };
    try {
      const { status, lastChange, exitCode } = await stubOf(container).getState();
      return { ...object, state: status, lastChange, exitCode };
    } catch {
      return { ...object, state: "unknown" };
    }
  }

  async function list(cursor) {
    const all = (await pool.operatorAssignments()).sort(([a], [b]) => (a < b ? -1 : 1)).filter(([id]) => id > (cursor ?? ""));
    const page = all.slice(0, pageSize);
    return json(200, { sandboxes: await Promise.all(page.map(told)), next: all.length > page.length ? page.at(-1)[0] : null });
  }

  async function one(id, verb) {
    const found = (await pool.operatorAssignments()).find(([known]) => known === id);
    if (!found) return json(404, { error: "no container is assigned to it" });
    const box = await told(found);
    if (!verb) return json(200, box);
    if (box.state !== "healthy" && box.state !== "running") return json(409, { error: `its object says ${box.state}` });
    if (verb === "stop") {
      await stubOf(box.container).stop();
      return json(202, { accepted: true });
    }
    const processes = await stubOf(box.container).listProcesses();
    return json(200, {
      processes: processes.map(({ id, pid, command, status, startTime, endTime, exitCode }) => ({ id, pid, command, status, startTime, endTime, exitCode })),
    });
  }

  async function route(request) {
    const url = new URL(request.url);
    if (!url.pathname.startsWith(`${prefix}/`)) return json(404, { error: "no such route" });
    if (!(await holds(request, key))) return json(401, { error: "not with this key" });
    const [area, id, verb, ...rest] = url.pathname.slice(prefix.length + 1).split("/");
    const reads = request.method === "GET" && (verb === undefined || verb === "processes");
    const stops = request.method === "POST" && verb === "stop";
    if (area !== "sandboxes" || rest.length > 0 || !(reads || stops) || (id === undefined && request.method !== "GET")) return json(404, { error: "no such route" });
    return id === undefined ? list(url.searchParams.get("cursor")) : one(id, verb);
  }

  // What went wrong inside a stop may have happened after it took effect, which is what a 500 says.
  return (request) => route(request).catch((e) => json(500, { error: String(e?.message ?? e) }));
}
