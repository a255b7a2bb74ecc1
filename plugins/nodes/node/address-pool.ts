/** Addresses of pods: each node has a /22 of this network. */
const podNetwork = ipv4(10, 192, 0, 0);
const nodeNetwork = ipv4(172, 20, 0, 0);
const podsPerNode = 1 << 10;

function ipv4(a: number, b: number, c: number, d: number): number {
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

function textOf(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}

function parse(text: string): number | undefined {
  const match = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  return match ? ipv4(Number(match[1]), Number(match[2]), Number(match[3]), Number(match[4])) : undefined;
}

/** Address of the node with the number (0 to 65,533). It is never contacted. */
export function nodeAddress(number: number): string {
  return textOf(nodeNetwork + number + 2);
}

/** Network of the pods of the node with the number. */
export function podCidr(number: number): string {
  return `${textOf(podNetwork + number * podsPerNode)}/22`;
}

/** Gives the pods of a node their addresses: the lowest free one, from .2 on. Released addresses are used again last. */
export class AddressPool {
  readonly #first: number;
  readonly #size: number;
  readonly #byPod = new Map<string, number>();
  readonly #used = new Set<number>();
  #next = 2;

  /** Throws for a text that is not an IPv4 network. */
  constructor(cidr: string) {
    const [base = '', bits = ''] = cidr.split('/');
    const first = parse(base);
    if (first === undefined || !/^\d+$/.test(bits) || Number(bits) > 30) throw new Error(`${cidr} is not an IPv4 network for pods`);
    this.#first = first;
    this.#size = 2 ** (32 - Number(bits));
  }

  /** Marks the address that a pod has already. */
  adopt(pod: string, address: string): void {
    const offset = (parse(address) ?? 0) - this.#first;
    if (offset <= 0 || offset >= this.#size) return;
    this.#byPod.set(pod, offset);
    this.#used.add(offset);
  }

  /** Returns the address of a pod, the same one each time. Throws if none is free. */
  addressOf(pod: string): string {
    const offset = this.#byPod.get(pod) ?? this.#allocate(pod);
    return textOf(this.#first + offset);
  }

  release(pod: string): void {
    const offset = this.#byPod.get(pod);
    if (offset === undefined) return;
    this.#byPod.delete(pod);
    this.#used.delete(offset);
  }

  #allocate(pod: string): number {
    // The last address is the broadcast address.
    for (let tried = 2; tried < this.#size - 1; tried += 1) {
      const offset = this.#next;
      this.#next = offset + 1 >= this.#size - 1 ? 2 : offset + 1;
      if (this.#used.has(offset)) continue;
      this.#used.add(offset);
      this.#byPod.set(pod, offset);
      return offset;
    }
    throw new Error(`no free address in ${textOf(this.#first)}`);
  }
}
