import type { GroupResource } from '#apimachinery/meta/types';
import { encodeRawJson } from '#apimachinery/runtime/json/json';
import type { Informers } from '#apiserver/registry/informers';
import type { FollowedEvent } from './messages.ts';

/** The resources that a worker thread follows. Their events are sent to the thread until disposed. */
export class FollowedResources implements Disposable {
  readonly #subscriptions: Disposable[] = [];
  /** Characters of objects that the thread has not received yet. */
  #unread = 0;
  #ended = false;

  /** `overflowed` is called if the thread has not received `maxUnread` characters: it would otherwise fill the memory of the server. */
  constructor(
    private readonly send: (resource: GroupResource, event: FollowedEvent) => void,
    private readonly maxUnread: number,
    private readonly overflowed: () => void,
  ) {}

  follow(informers: Informers, resource: GroupResource): void {
    if (this.#ended) return;
    const subscription = informers.for(resource).subscribe(
      (type, object) => {
        if (this.#ended) return;
        const { namespace = '', name = '' } = object.metadata;
        const text = encodeRawJson(object);
        this.#unread += text.length;
        if (this.#unread > this.maxUnread) return this.overflowed();
        this.send(resource, { type, namespace, name, text });
      },
      {
        restarted: () => this.send(resource, { type: 'restarted' }),
        synced: () => this.send(resource, { type: 'synced' }),
      },
    );
    this.#subscriptions.push(subscription);
  }

  /** The thread has received so many characters. */
  read(characters: number): void {
    this.#unread -= characters;
  }

  [Symbol.dispose](): void {
    this.#ended = true;
    for (const subscription of this.#subscriptions) subscription[Symbol.dispose]();
  }
}
