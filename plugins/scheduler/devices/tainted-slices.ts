import type { ResourceSlice } from 'kubenest/types/resource_v1';
import type { DeviceTaintRule } from 'kubenest/types/resource_v1alpha3';
import { withRuleTaints } from '../../common/device-taint-rules.ts';

/** Slices with the taints of DeviceTaintRules: the same objects as long as slice and rules are the same. */
export class TaintedSlices {
  #rules: readonly DeviceTaintRule[] = [];
  #known = new WeakMap<ResourceSlice, ResourceSlice>();

  of(slices: readonly ResourceSlice[], rules: readonly DeviceTaintRule[]): ResourceSlice[] {
    if (rules.length !== this.#rules.length || rules.some((rule, at) => rule !== this.#rules[at])) this.#known = new WeakMap();
    this.#rules = rules;
    return slices.map((slice) => {
      const tainted = this.#known.get(slice) ?? withRuleTaints(slice, rules);
      this.#known.set(slice, tainted);
      return tainted;
    });
  }
}
