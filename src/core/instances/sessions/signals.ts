import type { NetworkSignal } from '../../../channels/linked-device/wire/signals.js'
import type { BaseContext } from '../../../context.js'
import { ANY_COUNTRY, addressesOf, readNumber } from '../../../model/contacts/written-number.js'
import { gatewayEventKeys } from '../../../model/instances/gateway-webhook.js'
import type { InstanceKey } from '../../../model/instances/instance.js'
import { EVERY_KIND } from '../../../model/webhooks/webhook.js'
import { raiseInstanceSignal } from '../../../storage/instances/signals.js'

/** Raises events of what the network of a device tells, in order. */
export interface Signals {
  /** Never throws. While many wait, presence is dropped, which says nothing if it is late; others if too many do. */
  tell(signal: NetworkSignal): void
  /** Resolves when none waits. */
  done(): Promise<void>
}

/** How many may wait for the database. The network tells of all groups of an account at once. */
const MAX_WAITING = 5_000
/** Presence waits only behind so many. */
const MAX_BEFORE_PRESENCE = 100

export function createSignals(
  { database, log }: Pick<BaseContext, 'database' | 'log'>,
  { organization_id: organizationId, id }: InstanceKey,
): Signals {
  let waiting = 0
  let last: Promise<void> = Promise.resolve()

  async function raise({ event, data, chat }: NetworkSignal): Promise<void> {
    const addresses = addressesOf(readNumber(chat, ANY_COUNTRY, 'international'))
    const wantedBy = [EVERY_KIND, ...gatewayEventKeys(event)]
    await raiseInstanceSignal(database, organizationId, id, { signal: { event, data }, wantedBy, addresses })
  }

  return {
    tell: (signal) => {
      if (waiting >= (signal.event === 'presence.update' ? MAX_BEFORE_PRESENCE : MAX_WAITING)) {
        log.debug({ organizationId, instanceId: id, event: signal.event }, 'an event of a linked device is dropped')
        return
      }
      waiting++
      last = last
        .then(() => raise(signal))
        .catch((error: unknown) => {
          log.warn(
            { err: error, organizationId, instanceId: id, event: signal.event },
            'an event of a linked device is lost',
          )
        })
        .finally(() => waiting--)
    },
    done: () => last,
  }
}
