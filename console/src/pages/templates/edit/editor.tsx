import { Button, Grid, Group, Select, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useNavigate } from 'react-router'
import { api } from '../../../api/client.js'
import { translateProblem } from '../../../i18n/index.js'
import { notifyDone } from '../../../shared/problem.js'
import { TemplatePreview } from '../../../shared/templates/template-preview.js'
import { useIdempotencyKey } from '../../broadcasts/compose/idempotency.js'
import { Section } from '../../broadcasts/compose/section.js'
import { TEMPLATES, useFaults } from '../data.js'
import { Refusal } from '../refusal.js'
import type { Fault, Template } from '../types.js'
import { ButtonsFields } from './buttons-fields.js'
import {
  type Change,
  componentsOf,
  type Draft,
  type ErrorAt,
  faultAt,
  formatOf,
  type Purpose,
  pathsOf,
  shownFaults,
  toBody,
} from './draft.js'
import { ExampleFields } from './example-fields.js'
import { HeaderFields } from './header-fields.js'
import { languageOptions } from './languages.js'

const TYPING_MS = 300
const MAX_BODY = 1_024
const MAX_FOOTER = 60
/** The form allows more than WhatsApp does, so that a pasted text is not cut off silently. */
const MAX_TYPED = 4_000

interface EditorProps {
  purpose: Purpose
  initial: Draft
  /** The template that is edited or duplicated. */
  template: Template | null
}

/** The form of a template with its preview. The service says what is wrong while it is filled. */
export function Editor({ purpose, initial, template }: EditorProps) {
  const { t } = useTranslation('templates')
  const [draft, setDraft] = useState(initial)
  const [isSent, setSent] = useState(false)
  const [picture, setPicture] = useState<string | null>(null)
  const body = useMemo(() => toBody(draft), [draft])
  const [debounced] = useDebouncedValue(body, TYPING_MS)
  const { data: found = [] } = useFaults(debounced)
  const faults = shownFaults(found, isSent)
  const saving = useSave(purpose, template)
  const change: Change = (fields) => setDraft((current) => ({ ...current, ...fields }))
  const errorAt: ErrorAt = (path) => textOf(faultAt(faults, path))
  const paths = pathsOf(draft)
  const send = async () => {
    setSent(true)
    const { faults: left } = await api.post<{ faults: Fault[] }>('/templates/check', body)
    if (left.length === 0) saving.mutate(body)
  }

  return (
    <Grid gap="xl">
      <Grid.Col span={{ base: 12, md: 7 }}>
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            send().catch(() => saving.mutate(body))
          }}
        >
          <Stack gap="lg">
            <About purpose={purpose} draft={draft} change={change} errorAt={errorAt} />
            <Section title={t('form.content')}>
              <HeaderFields draft={draft} change={change} error={errorAt(paths.header)} onPicture={setPicture} />
              <Textarea
                label={t('form.body')}
                description={t('form.bodyHint', { variable: '{{1}}' })}
                value={draft.body}
                onChange={(event) => change({ body: event.currentTarget.value })}
                error={errorAt(`${paths.body}.text`)}
                maxLength={MAX_TYPED}
                autosize
                minRows={4}
                withAsterisk
              />
              <Counted text={draft.body} limit={MAX_BODY} />
              <TextInput
                label={t('form.footer')}
                value={draft.footer}
                onChange={(event) => change({ footer: event.currentTarget.value })}
                error={errorAt(paths.footer)}
                maxLength={MAX_TYPED}
              />
              {draft.footer !== '' && <Counted text={draft.footer} limit={MAX_FOOTER} />}
            </Section>
            <ButtonsFields draft={draft} change={change} path={paths.buttons} errorAt={errorAt} />
            <ExampleFields draft={draft} change={change} path={paths.body} errorAt={errorAt} />
            {saving.isError && <Refusal error={saving.error} />}
            {purpose === 'edit' && template?.status === 'APPROVED' && (
              <Text size="sm" c="dimmed">
                {t('approvedHint')}
              </Text>
            )}
            <Group>
              <Button type="submit" loading={saving.isPending}>
                {t(purpose === 'edit' ? 'save' : 'create')}
              </Button>
            </Group>
          </Stack>
        </form>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 5 }}>
        <Stack pos={{ md: 'sticky' }} top={0}>
          <Preview draft={draft} picture={picture} />
        </Stack>
      </Grid.Col>
    </Grid>
  )
}

interface AboutProps {
  purpose: Purpose
  draft: Draft
  change: Change
  errorAt: ErrorAt
}

function About({ purpose, draft, change, errorAt }: AboutProps) {
  const { t, i18n } = useTranslation('templates')
  const languages = useMemo(() => languageOptions(i18n.language), [i18n.language])
  const isKnown = purpose === 'edit'
  return (
    <Section title={t('form.about')}>
      <TextInput
        label={t('form.name')}
        description={t('form.nameHint')}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={errorAt('name')}
        disabled={isKnown}
        maxLength={512}
        withAsterisk
      />
      <Select
        label={t('form.language')}
        data={languages}
        value={draft.language === '' ? null : draft.language}
        onChange={(language) => change({ language: language ?? '' })}
        error={draft.language === '' ? undefined : errorAt('language')}
        disabled={isKnown}
        searchable
        withAsterisk
      />
      <Select
        label={t('form.category')}
        description={t('form.categoryHint')}
        data={(['UTILITY', 'MARKETING'] as const).map((value) => ({ value, label: t(`categories.${value}`) }))}
        value={draft.category}
        onChange={(category) => change({ category: category ?? 'UTILITY' })}
        error={errorAt('category')}
        allowDeselect={false}
        withAsterisk
      />
    </Section>
  )
}

/** The template as it will look, with its examples. */
function Preview({ draft, picture }: { draft: Draft; picture: string | null }) {
  const { t } = useTranslation('templates')
  const { name, language, category, headerExamples, bodyExamples } = draft
  const template = {
    ...{ name, language, category, status: 'PENDING' },
    parameter_format: formatOf(draft),
    components: componentsOf(draft),
  }
  const values = {
    body: bodyExamples,
    header: headerExamples,
    buttons: {},
    ...(picture !== null && { headerMedia: picture }),
  }
  return (
    <Section title={t('preview')}>
      <TemplatePreview template={template} values={values} />
    </Section>
  )
}

/** How many of the possible characters a text has. */
function Counted({ text, limit }: { text: string; limit: number }) {
  const { t } = useTranslation('templates')
  const used = [...text].length
  return (
    <Text size="xs" c={used > limit ? 'red' : 'dimmed'} ta="right">
      {t('form.count', { used, limit })}
    </Text>
  )
}

function textOf(fault: Fault | undefined): string | undefined {
  return fault && translateProblem({ error: 'Invalid field', message: fault.message, sentence: fault.sentence })
}

function useSave(purpose: Purpose, template: Template | null) {
  const { t } = useTranslation('templates')
  const keyFor = useIdempotencyKey()
  const navigate = useNavigate()
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (body: ReturnType<typeof toBody>) => {
      if (purpose !== 'edit' || !template) {
        return api.post<{ template: Template }>('/templates', body, { idempotencyKey: keyFor(body) })
      }
      const { name, language, category, components } = body
      const edit = { components, ...(category !== template.category && { category }) }
      return api.patch<{ template: Template }>('/templates', edit, { query: { name, language } })
    },
    onSuccess: async ({ template: saved }) => {
      notifyDone(t(saved.status === 'APPROVED' ? 'approved' : purpose === 'edit' ? 'edited' : 'created'))
      await queries.invalidateQueries({ queryKey: TEMPLATES })
      await navigate('/templates')
    },
  })
}
