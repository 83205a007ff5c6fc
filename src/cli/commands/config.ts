import { describeConfig } from '../../config/describe.js'
import { loadSecrets } from '../../secrets.js'
import { requireSharedConfig } from '../environment.js'
import type { Invocation } from '../invocation.js'
import { printList } from '../output.js'

/** `parley config`: the effective settings, secrets masked. */
export async function config({ env, streams }: Invocation, options: { json?: boolean }): Promise<void> {
  const effective = await requireSharedConfig(env)
  const loaded = await loadSecrets(effective)
  printList(streams, describeConfig(effective, loaded.ok ? loaded.secrets : undefined), options)
}
