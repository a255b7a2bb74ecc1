/** Words unknown and duplicate fields as strict decoding reports them. Upstream: sigs.k8s.io/json/internal/golang/encoding/json/kubernetes_patch.go. */
export function* wordedErrors(unknownFields: readonly string[], duplicateFields: readonly string[]): Generator<string> {
  for (const path of unknownFields) yield `unknown field ${JSON.stringify(path)}`;
  for (const path of duplicateFields) yield `duplicate field ${JSON.stringify(path)}`;
}

/** Returns the words of all unknown, then of all duplicate fields; `wordedErrors` is for lists of which only a part is shown. */
export function strictErrors(unknownFields: readonly string[], duplicateFields: readonly string[]): string[] {
  return [...wordedErrors(unknownFields, duplicateFields)];
}
