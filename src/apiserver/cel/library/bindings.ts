/** `cel.bind`. Upstream: cel-go ext/bindings.go, version 0. */
import type { Library } from '../environment.ts';
import { bindingMacros } from '../syntax/macros.ts';

/** Not part of every environment of Kubernetes; device selectors include it. */
export const bindingsLibrary: Library = { macros: bindingMacros };
