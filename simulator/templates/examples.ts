import { randomBytes } from 'node:crypto'

/** The types of example files. */
export const exampleTypes = ['application/pdf', 'image/jpeg', 'image/jpg', 'image/png', 'video/mp4']

/** A file that was announced, and maybe received. */
export interface Example {
  /** The id of the session and of the address of the file. */
  id: string
  mimeType: string
  /** In bytes, as announced. */
  size: number
  /** Where the received file is; null until then. */
  path: string | null
}

/** The newest of them are kept. */
const maxExamples = 1_000

/** The example files of templates, which are uploaded in two steps. */
export class Examples {
  readonly #examples = new Map<string, Example>()

  /** Begins the upload of a file. */
  announce(mimeType: string, size: number): Example {
    const example = { id: randomBytes(18).toString('hex'), mimeType, size, path: null }
    this.#examples.set(example.id, example)
    const [oldest] = this.#examples.keys()
    if (this.#examples.size > maxExamples && oldest !== undefined) this.#examples.delete(oldest)
    return example
  }

  find(id: string): Example | undefined {
    return this.#examples.get(id)
  }

  /** The handle of a received file. */
  handleOf({ id, mimeType }: Example): string {
    return `4::${Buffer.from(mimeType).toString('base64')}:${id}`
  }

  /** The received file that a handle was given for. */
  findByHandle(handle: string): Example | undefined {
    const example = this.#examples.get(handle.slice(handle.lastIndexOf(':') + 1))
    return example?.path && this.handleOf(example) === handle ? example : undefined
  }

  /** Whether a handle was given for a received file. */
  has(handle: string): boolean {
    return this.findByHandle(handle) !== undefined
  }
}
