import { quote } from '../quote.ts';

/**
 * Form of the path of an unknown field in an error: Go quotes the paths of typed JSON, and only surrounds those of unstructured content.
 */
export type PathForm = (path: string) => string;

/** Upstream: `"%s"` in runtime/converter.go and the decoder of custom resources. */
export const surrounded: PathForm = (path) => `"${path}"`;

/**
 * Words unknown and duplicate fields as strict decoding reports them. Upstream:
 * sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go.
 */
export function* wordedErrors(
  unknownFields: readonly string[],
  duplicateFields: readonly string[],
  form: PathForm = quote,
): Generator<string> {
  for (const path of unknownFields) yield `unknown field ${form(path)}`;
  for (const path of duplicateFields) yield `duplicate field ${quote(path)}`;
}

/** Returns the words of all unknown, then of all duplicate fields; `wordedErrors` is for lists of which only a part is shown. */
export function strictErrors(unknownFields: readonly string[], duplicateFields: readonly string[], form?: PathForm): string[] {
  return [...wordedErrors(unknownFields, duplicateFields, form)];
}
