import { join } from 'node:path'
import type { BlobStore } from './blob-store.js'
import { createFileStore } from './files.js'
import type { MediaSettings } from './settings.js'

/**
 * The store that the settings name; files lie below `dataDir`. A bucket that cannot be read is told to `warn` in one line
 * and keeps nothing from starting: the store may be back before anybody needs it.
 */
export async function openBlobStore(
  media: MediaSettings,
  dataDir: string,
  warn: (problem: string) => void = () => undefined,
): Promise<BlobStore> {
  if (media.kind === 'files') return createFileStore(join(dataDir, 'media'))
  // Loaded only where it is used: the SDK takes tens of megabytes of memory.
  const { createS3Store } = await import('./s3.js')
  const store = createS3Store(media)
  probe(store).catch((error: Error) => warn(error.message))
  return store
}

/** Looks for a blob that is never there: whoever may be told so may also read those that are. */
async function probe(store: BlobStore): Promise<void> {
  const blob = await store.open('probe')
  blob?.destroy()
}
