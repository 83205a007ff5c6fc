import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { Import, ImportResult, ImportSummary } from './import-file.js'

/** The report of an import as it is stored for repeated requests. */
export interface KeptReport extends ReportHead {
  results: ImportResult[]
  /** Set if there were too many rows to store; `results` then has only failed ones, from the first on. */
  results_truncated?: true
}

/** The report without the results of the rows. */
interface ReportHead {
  success: true
  summary: ImportSummary
  /** Sentences about ignored columns and numbers in doubt; absent if there is none. */
  warnings?: string[]
  /** The first 1,000 rows that failed. */
  failures: ImportResult[]
  /** The first 1,000 rows whose number is in doubt. */
  doubtful: ImportResult[]
}

/** The report of an import: the part that is stored, and the complete JSON document as a stream. */
export interface ImportReport {
  kept: KeptReport
  whole: Readable
}

/** How many characters of results are stored. */
const MAX_KEPT = MEBIBYTE
const MAX_LISTED = 1_000

/** An import that passes its results to `report` while it runs. */
export type ReportingImport = (report: (results: ImportResult[]) => Promise<void>) => Promise<Import>

/** Imports, and writes the results into a file, so that the report may be of any size. */
export function importWithReport(ctx: Pick<Context, 'spool'>, work: ReportingImport): Promise<ImportReport> {
  return ctx.spool.use(async (path) => {
    const file = await open(path, 'wx', 0o600)
    try {
      const { head, kept } = await writeResults(file, work)
      return { kept, whole: Readable.from(joined(head, await openResults(path))) }
    } finally {
      await file.close()
    }
  })
}

/** Writes the results, separated by commas, while they come. The head is known only when all have come. */
async function writeResults(file: FileHandle, work: ReportingImport): Promise<{ head: ReportHead; kept: KeptReport }> {
  const all = createKeeper()
  const failed = createKeeper()
  const failures: ImportResult[] = []
  const doubtful: ImportResult[] = []
  let separator = ''
  const { summary, warnings } = await work(async (results) => {
    const texts = results.map((result) => JSON.stringify(result))
    all.keep(results, texts)
    const [failedResults, failedTexts] = onlyFailed(results, texts)
    failed.keep(failedResults, failedTexts)
    failures.push(...failedResults.slice(0, MAX_LISTED - failures.length))
    doubtful.push(...results.filter(({ doubt }) => doubt).slice(0, MAX_LISTED - doubtful.length))
    await file.writeFile(separator + texts.join(','))
    separator = ','
  })
  const head: ReportHead = { success: true, summary, ...(warnings.length > 0 && { warnings }), failures, doubtful }
  if (all.isWhole()) return { head, kept: { ...head, results: all.results } }
  return { head, kept: { ...head, results: failed.results, results_truncated: true } }
}

async function* joined(head: ReportHead, results: Readable): AsyncGenerator<string | Buffer> {
  yield `${JSON.stringify(head).slice(0, -1)},"results":[`
  yield* results
  yield ']}'
}

function onlyFailed(results: readonly ImportResult[], texts: readonly string[]): [ImportResult[], string[]] {
  const isFailed = (_: unknown, index: number) => results[index]?.status === 'failed'
  return [results.filter(isFailed), texts.filter(isFailed)]
}

/** Collects results until they exceed the limit. */
function createKeeper() {
  const kept: ImportResult[] = []
  let length = 0
  return {
    results: kept,
    isWhole: () => length <= MAX_KEPT,
    keep: (results: readonly ImportResult[], texts: readonly string[]) => {
      results.forEach((result, index) => {
        length += (texts[index] as string).length + 1
        if (length <= MAX_KEPT) kept.push(result)
      })
    },
  }
}

/** An opened file stays readable after the spool removes it. */
async function openResults(path: string): Promise<Readable> {
  const stream = createReadStream(path)
  await once(stream, 'open')
  return stream
}
