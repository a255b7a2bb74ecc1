/** `cel.bind`. Upstream: cel-go ext/bindings.go, version 0. */
import type { Library } from '../environment.ts';
import { bindingMacros } from '../syntax/macros.ts';

/** Not in every environment of Kubernetes: selectors of devices have it. */
export const bindingsLibrary: Library = { macros: bindingMacros };
