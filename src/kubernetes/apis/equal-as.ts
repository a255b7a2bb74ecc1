import { semanticDeepEqual } from '#apimachinery/runtime/semantic-equality';
import { schema } from '#kubernetes/schema/schema';

/** True if two values of a type (`core_v1.PodSpec`) are equal by upstream's semantic equality. */
export function equalAs(type: string, left: unknown, right: unknown): boolean {
  return left === right || semanticDeepEqual(left, right, schema.type(type));
}
