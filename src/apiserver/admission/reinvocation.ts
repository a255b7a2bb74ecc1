/**
 * State of reinvocation: after the mutating plugins, all of them run once more if one of them requires it. Upstream:
 * apiserver/pkg/admission/reinvocation.go, attributes.go (ReinvocationContext).
 */
export class Reinvocation {
  /** True in the second round. */
  isReinvoke = false;
  /** True if a plugin requires a second round. */
  isRequired = false;
  readonly #states = new Map<object, unknown>();

  /** Returns a plugin's state, which is kept between the rounds; created by `make` on first use. */
  stateOf<T>(plugin: object, make: () => T): T {
    let state = this.#states.get(plugin) as T | undefined;
    if (state === undefined) {
      state = make();
      this.#states.set(plugin, state);
    }
    return state;
  }
}
