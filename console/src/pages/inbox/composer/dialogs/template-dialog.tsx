import { Alert, Badge, Box, Button, Grid, Group, Modal, Stack, Text, TextInput, UnstyledButton } from '@mantine/core'
import { IconArrowLeft, IconClock, IconInfoCircle, IconSearch, IconSend2 } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, Suspense, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { api } from '../../../../api/client.js'
import { Loading } from '../../../../layout/loading.js'
import { NoNumber, useHasNumber } from '../../../../shared/no-number.js'
import { LoadProblem, notifyError } from '../../../../shared/problem.js'
import { toHeaderMediaFields } from '../../../../shared/templates/header-media.js'
import { fileKindOf, readForm, type ShownTemplate } from '../../../../shared/templates/template-form.js'
import { toPartContent, toPartFields } from '../../../../shared/templates/template-parts.js'
import {
  fillPreview,
  NO_VALUES,
  type PlaceholderValues,
  TemplatePreview,
  type TemplateValues,
  usePlaceholders,
} from '../../../../shared/templates/template-preview.js'
import { LaterDialog } from '../../scheduled/later.js'
import classes from '../composer.module.css'
import { schedule } from '../pending-sends.js'
import { templateRequest } from '../requests.js'
import type { MessageDialogProps } from './message-dialog-props.js'
import { headerMediaOf, isFilled, TemplateFields } from './template-fields.js'

/** Selects a template, fills it in and sends it. */
export default function TemplateDialog({ route, onSend, onClose }: MessageDialogProps) {
  const { t } = useTranslation('thread')
  const [chosen, setChosen] = useState<ShownTemplate | null>(null)
  return (
    <Modal opened onClose={onClose} size="xl" title={chosen ? chosen.name : t('chooseTemplate')}>
      {chosen ? (
        <Fill
          template={chosen}
          route={route}
          onBack={() => setChosen(null)}
          onSend={(request) => {
            onSend(request)
            onClose()
          }}
          onScheduled={onClose}
        />
      ) : (
        <Choose onChoose={setChosen} />
      )}
    </Modal>
  )
}

function Choose({ onChoose }: { onChoose: (template: ShownTemplate) => void }) {
  const { t } = useTranslation('thread')
  const [search, setSearch] = useState('')
  const hasNumber = useHasNumber()
  const { data, error, refetch } = useQuery({
    queryKey: ['templates'],
    queryFn: ({ signal }) => api.get<{ templates: ShownTemplate[] }>('/templates', {}, signal),
    enabled: hasNumber,
  })
  if (!hasNumber) return <NoNumber purpose="templates" />
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const wanted = search.trim().toLocaleLowerCase()
  const found = data.templates.filter(
    (template) => template.status === 'APPROVED' && searchable(template).includes(wanted),
  )
  return (
    <Stack gap="sm">
      <TextInput
        data-autofocus
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
        leftSection={<IconSearch aria-hidden size={16} />}
        placeholder={t('searchTemplates')}
        aria-label={t('searchTemplates')}
      />
      <ul className={classes.templates} aria-label={t('templates')}>
        {found.map((template) => (
          <Choice key={`${template.name} ${template.language}`} template={template} onChoose={onChoose} />
        ))}
      </ul>
      {found.length === 0 && (
        <Text size="sm" ta="center" py="md" role="status">
          {t('noTemplates')}
        </Text>
      )}
    </Stack>
  )
}

/** A template of the list. One that only the API can fill says so, and cannot be chosen. */
function Choice({ template, onChoose }: { template: ShownTemplate; onChoose: (template: ShownTemplate) => void }) {
  const { t } = useTranslation('thread')
  const { body, parts } = readForm(template)
  const isByApi = parts.filledBy === 'api'
  return (
    <li>
      <UnstyledButton className={classes.template} disabled={isByApi} onClick={() => onChoose(template)}>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" fw={600} truncate>
            {template.name}
          </Text>
          <Badge size="xs" variant="default">
            {template.language}
          </Badge>
          <Badge size="xs" variant="default">
            {template.category.toLowerCase()}
          </Badge>
        </Group>
        <Text size="xs" lineClamp={2} className={classes.templateText}>
          {body.text}
        </Text>
        {isByApi && <Text size="xs">{t('parts.byApi')}</Text>}
      </UnstyledButton>
    </li>
  )
}

function searchable({ name, components }: ShownTemplate): string {
  return `${name} ${components.map(({ text }) => text ?? '').join(' ')}`.toLocaleLowerCase()
}

function Fill({
  template,
  route,
  onBack,
  onSend,
  onScheduled,
}: {
  template: ShownTemplate
  route: MessageDialogProps['route']
  onBack: () => void
  onSend: MessageDialogProps['onSend']
  onScheduled: () => void
}) {
  const { t } = useTranslation('thread')
  const { contact } = route
  const [isLater, setLater] = useState(false)
  const [values, setValues] = useState<TemplateValues>(NO_VALUES)
  const placeholders = usePlaceholders({ contactId: contact.id })
  const form = readForm(template)
  const isRefused = template.category === 'MARKETING' && !contact.allow_broadcast
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onSend(toRequest(route, template, values, placeholders))
  }
  const maySend = !isRefused && isFilled(form, values)
  const sendLater = async (scheduledAt: string, key: string) => {
    try {
      const request = toRequest({ ...route, scheduledAt }, template, values, placeholders)
      await schedule([{ request, name: 'template' }], key)
    } catch (error) {
      notifyError(error)
      return false
    }
    // After the dialog of the time has closed.
    setTimeout(onScheduled)
    return true
  }
  return (
    <form onSubmit={submit}>
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <Stack gap="sm">
            {isRefused && (
              <Alert color="yellow" icon={<IconInfoCircle aria-hidden />}>
                {t('wantsNoMarketing')}
              </Alert>
            )}
            <TemplateFields form={form} values={values} onChange={setValues} />
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 6 }}>
          <Text size="sm" fw={500} mb={6}>
            {t('preview')}
          </Text>
          <Box aria-live="polite">
            <TemplatePreview template={template} values={values} placeholders={placeholders} />
          </Box>
        </Grid.Col>
      </Grid>
      <Group justify="space-between" mt="lg">
        <Button variant="default" leftSection={<IconArrowLeft aria-hidden size={16} />} onClick={onBack}>
          {t('otherTemplate')}
        </Button>
        <Group gap="xs">
          <Button
            variant="default"
            disabled={!maySend}
            leftSection={<IconClock aria-hidden size={16} />}
            onClick={() => setLater(true)}
          >
            {t('later.send')}
          </Button>
          <Button type="submit" disabled={!maySend} leftSection={<IconSend2 aria-hidden size={16} />}>
            {t('send')}
          </Button>
        </Group>
      </Group>
      {isLater && (
        <Suspense>
          <LaterDialog onSchedule={sendLater} onClose={() => setLater(false)} />
        </Suspense>
      )}
    </form>
  )
}

function toRequest(
  route: MessageDialogProps['route'],
  template: ShownTemplate,
  values: TemplateValues,
  placeholders: PlaceholderValues | undefined,
) {
  const { name, language } = template
  const { header, place, file, body, footer, buttons } = fillPreview(template, values, placeholders)
  const fields = {
    templateName: name,
    language,
    bodyParameters: values.body,
    headerParameters: values.header,
    buttonParameters: values.buttons,
    ...(fileKindOf(readForm(template)) !== null && toHeaderMediaFields(headerMediaOf(values))),
    ...toPartFields(values.parts ?? {}),
  }
  const content = {
    type: 'template' as const,
    name,
    language,
    header,
    location: place && { latitude: null, longitude: null, ...place },
    filename: file?.filename ?? null,
    body,
    footer,
    buttons: buttons.map(({ kind, text }) => ({ type: kind, text })),
    parameters: [],
    ...toPartContent(values.parts ?? {}),
  }
  const look = { message_type: 'template', message: body, media_type: file?.kind ?? null, media_url: file?.url ?? null }
  // Templates are sent from the organization's number and cannot be replies.
  return templateRequest({ ...route, replyTo: null }, fields, { ...look, content, instance: null })
}
