/**
 * What plugins that call others out of order need to know: once the mutating plugins are through and one of them asked for
 * it, all of them run once more. Upstream: apiserver/pkg/admission/reinvocation.go, attributes.go (ReinvocationContext).
 */
export class Reinvocation {
  /** Whether this is the second round. */
  isReinvoke = false;
  /** Whether there is to be a second round. */
  isRequired = false;
  readonly #states = new Map<object, unknown>();

  /** What a plugin keeps between the rounds; made when it is first asked for. */
  stateOf<T>(plugin: object, make: () => T): T {
    let state = this.#states.get(plugin) as T | undefined;
    if (state === undefined) {
      state = make();
      this.#states.set(plugin, state);
    }
    return state;
  }
}
