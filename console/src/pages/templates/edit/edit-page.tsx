import { Alert, Anchor } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import { Link, useSearchParams } from 'react-router'
import { Loading } from '../../../layout/loading.js'
import { useSession } from '../../../session/session.js'
import { NoNumber, useHasNumber } from '../../../shared/no-number.js'
import { PageFrame } from '../../../shared/page-frame.js'
import { LoadProblem } from '../../../shared/problem.js'
import { useAllTemplates } from '../data.js'
import { draftOf, emptyDraft, type Purpose } from './draft.js'
import { Editor } from './editor.js'

/** The form of a new template, of a known one, or of its duplicate. The address names the known one. */
export function EditPage({ purpose }: { purpose: Purpose }) {
  const { t } = useTranslation('templates')
  const hasNumber = useHasNumber()
  const [query] = useSearchParams()
  const name = query.get('name') ?? ''
  const titles = { new: t('new'), edit: t('editTitle', { name }), duplicate: t('duplicateTitle', { name }) }
  return (
    <PageFrame
      title={titles[purpose]}
      above={
        <Anchor component={Link} to="/templates" size="sm">
          <IconArrowLeft aria-hidden size={14} /> {t('title')}
        </Anchor>
      }
    >
      {!hasNumber && <NoNumber purpose="templates" />}
      {hasNumber && purpose === 'new' && <NewTemplate />}
      {hasNumber && purpose !== 'new' && (
        <KnownTemplate purpose={purpose} name={name} language={query.get('language') ?? ''} />
      )}
    </PageFrame>
  )
}

function NewTemplate() {
  const { language } = useSession().organization
  return <Editor purpose="new" initial={emptyDraft(language)} template={null} />
}

interface KnownTemplateProps {
  purpose: 'edit' | 'duplicate'
  name: string
  language: string
}

function KnownTemplate({ purpose, name, language }: KnownTemplateProps) {
  const { t } = useTranslation('templates')
  const { data, error, refetch } = useAllTemplates()
  if (error) return <LoadProblem error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const template = data.find((one) => one.name === name && one.language === language)
  if (!template) return <Alert color="orange">{t('unknown')}</Alert>
  const draft = draftOf(template)
  if (!draft) return <Alert color="orange">{t('notHere')}</Alert>
  return (
    <Editor
      key={`${purpose} ${name} ${language}`}
      purpose={purpose}
      initial={purpose === 'duplicate' ? { ...draft, language: '' } : draft}
      template={template}
    />
  )
}
