import { operatorRoutes } from "./operator-routes.mjs";

// env.RUNS is a KV namespace with one key per session and { status } as its metadata; the agents write it when a run
// starts and ends. env.AGENTS is the namespace of the objects.
export default {
  fetch(request, env) {
    return operatorRoutes({
      readToken: env.READ_TOKEN,
      actToken: env.ACT_TOKEN,
      list: async (cursor) => {
        const page = await env.RUNS.list({ cursor: cursor ?? undefined, limit: 1000 });
        return { sessions: page.keys.map((k) => ({ sessionId: k.name, ...k.metadata })), next: page.list_complete ? null : page.cursor };
      },
      registryOf: async (id) => {
        const { metadata } = await env.RUNS.getWithMetadata(id);
        return metadata?.status === "running" ? env.AGENTS.get(env.AGENTS.idFromName(id)) : undefined;
      },
    })(request);
  },
};
