import { runLoad } from '../generator.js'
import type { NextRequest } from '../loads.js'
import { type Measurement, measure, measureAlternating, type Row } from '../measure.js'
import type { Options } from '../options.js'
import { explainAll, type StatementPlan } from '../plans.js'
import { answer, anyConversation, type Question, questionsTo, requestOf } from '../scale-questions.js'
import { type ScaleSetup, type ScaleWorld, type Site, startScaleWorld } from '../scale-world.js'
import type { Run } from '../server.js'

/** The costs of reading at this size. */
export interface Scale extends ScaleSetup {
  messages: number
  rows: Row[]
  plans: QuestionPlan[]
}

/** The statements of the rows with this id. */
export interface QuestionPlan {
  id: string
  title: string
  statements: StatementPlan[]
}

const CROWD = 8

/** Creates a database of this number of messages and a small one, and measures reading in both. */
export async function measureScale(run: Run, { messages, seconds, keep }: Options): Promise<Scale> {
  const { large, small, ...making } = await startScaleWorld(run, messages, keep)
  return { messages, ...making, ...(await measureReading({ large, small }, seconds)) }
}

/** Measures every request over HTTP, compares the two sizes, and explains the statements. */
export async function measureReading(
  { large, small }: ScaleWorld,
  seconds: number,
): Promise<Pick<Scale, 'rows' | 'plans'>> {
  const questions = questionsTo(large)
  const rows: Row[] = []
  for (const question of questions) {
    rows.push(await measure(large, seconds, toMeasurement(large, question, 1)))
    if (question.isCrowded) rows.push(await measure(large, seconds, toMeasurement(large, question, CROWD)))
  }
  rows.push(...(await compareSizes(large, small, seconds)))
  const plans: QuestionPlan[] = []
  for (const question of questions) {
    const statements = await explainAll(large.url, (ctx) => answer(ctx, large, question))
    plans.push({ id: question.id, title: question.title, statements })
  }
  return { rows, plans }
}

function toMeasurement(site: Site, question: Question, connections: number): Measurement {
  const { id, title } = question
  const load = { id: connections === 1 ? id : `${id}.${connections}`, title, connections }
  return loadOf(site, load, requestOf(question, site))
}

/** Sends the same requests to both databases in alternation. */
function compareSizes(large: Site, small: Site, seconds: number): Promise<Row[]> {
  const pair = (id: string, title: string, next: (site: Site) => NextRequest): [Measurement, Measurement] => [
    loadOf(small, { id: `size.${id}.small`, title: `${title}, small database`, connections: 1 }, next(small)),
    loadOf(large, { id: `size.${id}`, title: `${title}, large database`, connections: 1 }, next(large)),
  ]
  const requestFor = (contact?: number) => {
    const question = { id: '', title: '', query: '', page: 1, ...(contact !== undefined && { contact }) }
    return (site: Site) => requestOf(question, site)
  }
  return measureAlternating(large, seconds, [
    pair('middle', 'conversation of 1,000, page 1', requestFor(1)),
    pair('long', 'longest conversation, page 1', requestFor(0)),
    pair('any', 'any conversation, page 1', anyConversation),
    pair('contacts', 'contacts, page 1', requestFor()),
  ])
}

function loadOf(site: Site, load: Pick<Measurement, 'id' | 'title' | 'connections'>, next: NextRequest): Measurement {
  const { pid, url } = site.service
  return { ...load, pid, run: (shape) => runLoad(url, shape, next) }
}
