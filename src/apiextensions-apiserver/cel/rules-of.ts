import type { CustomVersion } from '../registry/custom-version.ts';
import type { CustomResourceRules } from '../registry/strategy.ts';
import { RuleValidator } from './rule-validator.ts';

/** Returns the rules of a version; undefined if it has none. */
export function rulesOf({ structural }: CustomVersion): CustomResourceRules | undefined {
  const validator = RuleValidator.for(structural, true);
  return (
    validator && {
      validate: (object, old, warn) => validator.validate(undefined, object, old, old !== undefined, warn),
    }
  );
}
