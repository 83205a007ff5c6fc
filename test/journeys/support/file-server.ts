import { startHttpServer } from '../../support/http-server.js'
import { jpeg, pdf } from '../../support/media.js'

/** Where the files lie that are sent. */
export interface FileServer {
  photoUrl: string
  documentUrl: string
  photo: Buffer
  document: Buffer
  /** How many downloads were stopped since the last `hold`. */
  readonly held: number
  /** From now on answers no download. */
  hold(): void
  letThrough(): void
  close(): Promise<void>
}

/** Starts a server of a photo and a document on a free port of this machine. */
export async function startFileServer(): Promise<FileServer> {
  const files = { photo: jpeg(), document: pdf() }
  let isHolding = false
  let held = 0
  const server = await startHttpServer(({ path }, response) => {
    if (isHolding) held += 1
    else response.end(path === '/photo.jpg' ? files.photo : files.document)
  })
  return {
    ...files,
    photoUrl: `${server.url}/photo.jpg`,
    documentUrl: `${server.url}/invoice.pdf`,
    get held() {
      return held
    },
    hold: () => {
      isHolding = true
      held = 0
    },
    letThrough: () => {
      isHolding = false
    },
    close: server.close,
  }
}
