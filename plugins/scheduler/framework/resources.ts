import { Quantity } from 'kubenest/sdk';
import type { Container, Pod } from 'kubenest/types/core_v1';

/** Amounts by resource name: CPU in thousandths, all else in whole units. */
export type Amounts = Map<string, number>;

const parsed = new Map<string, number>();
const maxParsed = 10_000;

/** Amount of a resource in the scheduler's unit, rounded up. Remembers texts, because few different ones occur. */
export function amountOf(resource: string, text: string): number {
  const key = resource === 'cpu' ? `c${text}` : text;
  let amount = parsed.get(key);
  if (amount === undefined) {
    const quantity = Quantity.parse(text);
    amount = Number(resource === 'cpu' ? quantity.milliValue() : quantity.value());
    if (parsed.size >= maxParsed) parsed.clear();
    parsed.set(key, amount);
  }
  return amount;
}

/** Amounts of a list of quantities. */
export function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, amountOf(name, text)]));
}

function add(total: Amounts, more: ReadonlyMap<string, number>): void {
  for (const [name, amount] of more) total.set(name, (total.get(name) ?? 0) + amount);
}

function raise(total: Amounts, least: ReadonlyMap<string, number>): void {
  for (const [name, amount] of least) total.set(name, Math.max(total.get(name) ?? 0, amount));
}

/**
 * Requests of a pod: its main containers and sidecars together, at least what each init container needs beside the sidecars that
 * started before it; requests of the pod as a whole replace these sums; plus the overhead. `requestsOf` gives those of a container.
 *
 * Example: main 1 CPU, first init container 3 CPU, then a sidecar 1 CPU, then an init container 2 CPU:
 * max(1 + 1, 3, 2 + 1) = 3 CPU.
 *
 * Upstream: component-helpers/resource (PodRequests).
 */
export function podRequests({ spec = {} }: Pod, requestsOf: (container: Container) => Amounts = requestsOfContainer): Amounts {
  const total: Amounts = new Map();
  for (const container of spec.containers ?? []) add(total, requestsOf(container));
  const sidecars: Amounts = new Map();
  const init: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      add(total, own);
      add(sidecars, own);
      raise(init, sidecars);
    } else {
      add(own, sidecars);
      raise(init, own);
    }
  }
  raise(total, init);
  for (const [name, amount] of amountsOf(spec.resources?.requests))
    if (name === 'cpu' || name === 'memory' || name.startsWith('hugepages-')) total.set(name, amount);
  add(total, amountsOf(spec.overhead));
  return total;
}

const requestsOfContainer = ({ resources }: Container): Amounts => amountsOf(resources?.requests);

/** Requests that scores assume for a container without any. Upstream: pkg/scheduler/util/pod_resources.go. */
const assumed: readonly (readonly [string, number])[] = [
  ['cpu', 100],
  ['memory', 200 * 1024 * 1024],
];

/** Requests of a pod in which each container without a request for CPU or memory counts as a small one. */
export function nonZeroRequests(pod: Pod): Amounts {
  return podRequests(pod, (container) => {
    const amounts = requestsOfContainer(container);
    for (const [name, amount] of assumed) if (!amounts.has(name)) amounts.set(name, amount);
    return amounts;
  });
}
