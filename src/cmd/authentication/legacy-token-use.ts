import { Inject, Injectable } from '@nestjs/common';
import type { KubeObject } from '#apimachinery/meta/types';
import { LoopbackClient } from '#apiserver/server/loopback-client';
import { Log } from '#cmd/logging/log';
import { noteLegacyTokenUse } from '#kubernetes/controlplane/legacy-token-tracking';

/** Labels secrets of service accounts whose token a client has shown. A secret that cannot be labelled is logged; the client is served. */
@Injectable()
export class LegacyTokenUse {
  constructor(
    @Inject(LoopbackClient) private readonly client: LoopbackClient,
    @Inject(Log) private readonly log: Log,
  ) {}

  readonly note = (secret: KubeObject): void => {
    noteLegacyTokenUse(this.client, secret, new Date()).catch((error: unknown) =>
      this.log.error(
        { reason: error instanceof Error ? error.message : String(error) },
        'a service account token secret could not be labelled',
      ),
    );
  };
}
