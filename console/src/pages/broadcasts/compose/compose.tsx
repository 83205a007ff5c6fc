import { Anchor, Grid, Stack, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useDebouncedValue, useDisclosure, useMediaQuery } from '@mantine/hooks'
import { IconArrowLeft } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useRef } from 'react'
import { useTranslation } from 'react-i18next'
import { Link, useNavigate } from 'react-router'
import type { ReadList } from '../../../../../src/model/broadcasts/read-list.js'
import { api } from '../../../api/client.js'
import { Loading } from '../../../layout/loading.js'
import { useSession } from '../../../session/session.js'
import { NoNumber, useHasNumber } from '../../../shared/no-number.js'
import { PageFrame } from '../../../shared/page-frame.js'
import { LoadProblem } from '../../../shared/problem.js'
import { readForm, type ShownTemplate } from '../../../shared/templates/template-form.js'
import { BROADCASTS, type Broadcast } from '../data.js'
import { AudienceSection } from './audience/audience-section.js'
import { ConfirmDialog } from './confirm-dialog.js'
import { csvOf, useList, useReach, useTemplates } from './data.js'
import { audienceOf, complaintsAbout, type Draft, EMPTY_DRAFT, fieldsOf, fileOf, keyOf, toBody } from './draft.js'
import { useIdempotencyKey } from './idempotency.js'
import { Preview } from './preview.js'
import { WhenSection } from './schedule/when-section.js'
import { Section } from './section.js'
import { SendPanel } from './send-panel.js'
import { TemplatePicker } from './template/template-picker.js'
import { Variables } from './template/variables.js'

const TYPING_MS = 400
/** Below the breakpoint `md`. */
const NARROW = '(max-width: 61.99em)'

const NO_LIST: ReadList = {
  recipients: 0,
  rejected: 0,
  errors: [],
  columns: [],
  ignored: [],
  first: null,
  reach: { total: 0, reachable: 0, skipped: [], doubts: 0, doubtful: [] },
}

/** Composes a broadcast: message, audience and time. */
export default function Compose() {
  const { t } = useTranslation('broadcasts')
  const hasNumber = useHasNumber()
  return (
    <PageFrame
      title={t('new')}
      above={
        <Anchor component={Link} to="/broadcasts" size="sm">
          <IconArrowLeft aria-hidden size={14} /> {t('title')}
        </Anchor>
      }
    >
      {hasNumber ? <WithTemplates /> : <NoNumber purpose="templates" />}
    </PageFrame>
  )
}

function WithTemplates() {
  const { data: templates, error, refetch } = useTemplates()
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  return templates ? <Composer templates={templates} /> : <Loading />
}

function Composer({ templates }: { templates: NonNullable<ReturnType<typeof useTemplates>['data']> }) {
  const { t } = useTranslation('broadcasts')
  const { timezone } = useSession().organization
  const [isConfirming, confirmation] = useDisclosure()
  const form = useForm({ initialValues: EMPTY_DRAFT })
  const draft = form.values
  const template = templates.find((one) => keyOf(one) === draft.template) ?? null
  const templateForm = useMemo(() => template && readForm(template), [template])
  const isList = draft.audience === 'list'
  const audience = useMemo(() => audienceOf(draft), [draft])
  const [debounced, isCurrent] = useDebounced(audience)
  const counted = useReach(debounced)
  const [listKey, isListCurrent] = useDebounced(listKeyOf(draft))
  const file = useMemo(() => fileOf(draft), [draft])
  const reading = useList(isListCurrent ? file : null, listKey, template)
  const list = (file !== null && reading.data) || NO_LIST
  const { error, isFetching } = isList ? reading : counted
  const reach = { data: isList ? reading.data?.reach : counted.data, error, isFetching }
  const create = useCreate()

  const chooseTemplate = (key: string) => {
    const chosen = templates.find((one) => keyOf(one) === key)
    form.setValues({ template: key, ...(chosen && fieldsOf(readForm(chosen))) })
    form.clearErrors()
  }
  const review = () => {
    const complaints = Object.entries(complaintsAbout(draft, templateForm, list, timezone))
    form.setErrors(Object.fromEntries(complaints.map(([path, complaint]) => [path, t(`complaints.${complaint}`)])))
    const [first] = complaints
    if (first === undefined) confirmation.open()
    else document.querySelector<HTMLElement>(`[data-path="${CSS.escape(first[0])}"]`)?.focus()
  }
  const send = () => template && create.send({ draft, template, timezone, listKey })
  // In one column, it follows what it shows.
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false })
  const preview = <Preview draft={draft} template={template} list={list} />

  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <Stack gap="lg">
          <Section title={t('compose.message')}>
            <TextInput
              {...form.getInputProps('name')}
              label={t('compose.name')}
              description={t('compose.nameHint')}
              maxLength={500}
              withAsterisk
            />
            <TemplatePicker
              templates={templates}
              value={draft.template}
              error={form.errors.template}
              onChange={chooseTemplate}
            />
            {templateForm && <Variables form={form} template={templateForm} list={list} />}
          </Section>
          {isNarrow && preview}
          <AudienceSection form={form} list={list} problem={file === null ? null : reading.error} />
          <WhenSection form={form} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack gap="lg" pos={{ md: 'sticky' }} top={0}>
          {!isNarrow && preview}
          <SendPanel
            reach={(isList ? file : audience) === null ? undefined : reach}
            isLater={draft.isLater}
            onSend={review}
          />
        </Stack>
      </Grid.Col>
      <ConfirmDialog
        opened={isConfirming}
        onClose={confirmation.close}
        draft={draft}
        template={template}
        list={list}
        reach={reach.data}
        isCounting={reach.isFetching || !isCurrent || !isListCurrent}
        sending={create}
        onSend={send}
      />
    </Grid>
  )
}

/** The debounced value, and whether it is current. */
function useDebounced<Value>(value: Value): [debounced: Value, isCurrent: boolean] {
  const text = JSON.stringify(value)
  const [debounced] = useDebouncedValue(text, TYPING_MS)
  return [useMemo(() => JSON.parse(debounced) as Value, [debounced]), debounced === text]
}

/** What distinguishes lists; files by their properties. */
function listKeyOf({ list }: Draft): string {
  return typeof list === 'string' ? list : JSON.stringify([list.name, list.size, list.lastModified])
}

interface Sending {
  draft: Draft
  template: ShownTemplate
  timezone: string
  listKey: string
}

function useCreate() {
  const keyFor = useIdempotencyKey()
  const uploadKeyFor = useIdempotencyKey()
  const navigate = useNavigate()
  const queries = useQueryClient()
  // A double click ends before the button is rendered as disabled.
  const isInProgress = useRef(false)
  const creation = useMutation({
    mutationFn: async ({ draft, template, timezone, listKey }: Sending) => {
      const file = fileOf(draft)
      const uploadKey = uploadKeyFor([listKey, keyOf(template)])
      const audienceId = file && (await upload(file, template, uploadKey))
      const body = toBody(draft, template, audienceId, timezone)
      const created = await api.post<{ broadcast: Broadcast }>('/broadcasts', body, { idempotencyKey: keyFor(body) })
      // The broadcast has its recipients. An audience that stays is deleted after some days.
      if (audienceId !== null) api.delete(`/audiences/${audienceId}`).catch(() => undefined)
      return created
    },
    onSuccess: async ({ broadcast }) => {
      await queries.invalidateQueries({ queryKey: BROADCASTS })
      await navigate(`/broadcasts/${broadcast.id}`)
    },
    onError: () => {
      isInProgress.current = false
    },
  })
  const send = (sending: Sending) => {
    if (isInProgress.current) return
    isInProgress.current = true
    creation.mutate(sending)
  }
  return { ...creation, send }
}

async function upload(file: Blob, template: ShownTemplate, idempotencyKey: string): Promise<string> {
  const options = { ...csvOf(template), idempotencyKey }
  return (await api.post<{ audience: { id: string } }>('/audiences', file, options)).audience.id
}
