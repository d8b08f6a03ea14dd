// Agent is your Durable Object class; this.registry is its live registry, undefined while no loop is active.
export const withOperatorMethods = (Agent) =>
  class extends Agent {
    async describe() {
      return this.registry?.describe();
    }
    async reset(name) {
      if (!this.registry) throw new Error("the run ended meanwhile");
      return this.registry.reset(name);
    }
  };
