import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Context } from '../../context.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { Import, ImportResult, ImportSummary } from './import-file.js'

/** The report of an import, as it is kept for a request that is repeated. */
export interface KeptReport extends ReportHead {
  results: ImportResult[]
  /** There were more rows than could be kept: only failed ones, from the first on. */
  results_truncated?: true
}

/** What stands before the results of all rows. */
interface ReportHead {
  success: true
  summary: ImportSummary
  /** A sentence for each column that was ignored; absent where there is none. */
  warnings?: string[]
  /** The first 1,000 rows that failed. */
  failures: ImportResult[]
}

/** The report of an import: what is kept of it, and the whole of it, a JSON document to be read once. */
export interface ImportReport {
  kept: KeptReport
  whole: Readable
}

/** How many characters of results are kept. */
const MAX_KEPT = MEBIBYTE
const MAX_FAILURES = 1_000

/** An import that hands its results over as they come, and resolves to what it came to. */
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

/** Writes the results, separated by commas, while they come; what stands before them is known when they have all come. */
async function writeResults(file: FileHandle, work: ReportingImport): Promise<{ head: ReportHead; kept: KeptReport }> {
  const all = createKeeper()
  const failed = createKeeper()
  const failures: ImportResult[] = []
  let separator = ''
  const { summary, warnings } = await work(async (results) => {
    const texts = results.map((result) => JSON.stringify(result))
    all.keep(results, texts)
    const [failedResults, failedTexts] = onlyFailed(results, texts)
    failed.keep(failedResults, failedTexts)
    failures.push(...failedResults.slice(0, MAX_FAILURES - failures.length))
    await file.writeFile(separator + texts.join(','))
    separator = ','
  })
  const head: ReportHead = { success: true, summary, ...(warnings.length > 0 && { warnings }), failures }
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

/** Takes results until the first that makes them too many. */
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

/** Opened, it can be read although the spool removes it. */
async function openResults(path: string): Promise<Readable> {
  const stream = createReadStream(path)
  await once(stream, 'open')
  return stream
}
