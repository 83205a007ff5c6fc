import type { ConnectionReason } from '../../../../src/model/organizations/connection-steps.js'

/** What a step of connecting a number has found, and what to do. */
export interface StepText {
  sentence: string
  remedy?: string
}

const TOKEN =
  'Gere um token de um usuário do sistema que nunca expira (docs/connect-a-number.md#3-create-a-token-that-lasts)'
const AGAIN = 'Tente de novo em alguns minutos'
const CONNECT = 'Conecte o número de novo'

/** The texts of the service (src/model/organizations/connection-steps.ts) in Portuguese. */
export const STEP_TEXTS: Record<ConnectionReason, StepText> = {
  token_lasting: { sentence: 'O token de acesso é válido e não expira; pertence ao app {app}' },
  token_valid: { sentence: 'O token de acesso é válido até {until}; pertence ao app {app}' },
  token_ending: { sentence: 'O token de acesso expira em {until}; depois, nada pode ser enviado', remedy: TOKEN },
  token_of_person: {
    sentence: 'O token de acesso é de uma pessoa, e deixa de valer quando ela muda a senha ou sai',
    remedy: TOKEN,
  },
  data_access_ending: { sentence: 'O acesso do token aos dados termina em {until}', remedy: TOKEN },
  token_unread: {
    sentence: 'O token de acesso funciona, mas o WhatsApp não diz o que ele permite ({text})',
    remedy: 'Se um passo seguinte falhar, gere o token de novo, com as duas permissões do WhatsApp',
  },
  token_refused: {
    sentence: 'O WhatsApp recusou o token de acesso ({text})',
    remedy: `Informe um válido, copiado por inteiro. ${TOKEN}`,
  },
  token_lacks: {
    sentence: 'Falta ao token de acesso a permissão {permissions}',
    remedy: 'Gere-o de novo, com whatsapp_business_messaging e whatsapp_business_management',
  },
  token_needs_proof: {
    sentence: 'O app só aceita chamadas que provam a sua chave secreta ({text})',
    remedy: 'Copie-a do painel de apps, em Configurações, Básico, Chave secreta do app',
  },
  token_unavailable: { sentence: 'Não foi possível perguntar ao WhatsApp sobre o token ({text})', remedy: AGAIN },
  secret_fits: { sentence: 'A chave secreta do app confere' },
  secret_missing: {
    sentence: 'Falta a chave secreta do app: sem ela, nenhum callback é confiável',
    remedy: 'Copie-a do painel de apps, em Configurações, Básico, Chave secreta do app',
  },
  secret_wrong: {
    sentence: 'A chave secreta não é a do app do token de acesso ({text})',
    remedy: 'Copie-a de novo do app {app}: Configurações, Básico, Chave secreta do app',
  },
  secret_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp sobre a chave secreta do app ({text})',
    remedy: AGAIN,
  },
  number_found: { sentence: '{number}, {name}, na conta comercial {account}' },
  test_number: {
    sentence: '{number} é um número de teste: só escreve aos destinatários da sua lista, no máximo cinco',
    remedy: 'Adicione seu telefone à lista no painel de apps, ou um número próprio',
  },
  number_choice: { sentence: 'O token de acesso alcança {count} números', remedy: 'Escolha um' },
  number_other: {
    sentence: 'O token de acesso não alcança o número conectado {connected}; alcança {count} outros',
    remedy: 'Informe um token que o alcance, ou escolha o que deve tomar o seu lugar',
  },
  account_unknown: {
    sentence: 'O WhatsApp não informa nenhuma conta comercial que o token abra',
    remedy:
      'Atribua a conta do WhatsApp e o app ao usuário do sistema e gere o token de novo, ou informe o ID da conta comercial',
  },
  no_number: {
    sentence: 'A conta comercial {accounts} não tem número',
    remedy: 'Adicione um no Gerenciador do WhatsApp',
  },
  number_unreached: {
    sentence: 'O token de acesso não alcança o número {number} na conta comercial {accounts}',
    remedy: 'Informe o ID do número, não o próprio número, e atribua a conta do WhatsApp ao usuário do sistema',
  },
  account_refused: {
    sentence: 'O token de acesso não abre a conta comercial {accounts} ({text})',
    remedy: 'Confira se é o ID da conta do WhatsApp, e não o do portfólio, e atribua a conta ao usuário do sistema',
  },
  number_refused: {
    sentence: 'O token de acesso não abre o número {number} ({text})',
    remedy: 'Atribua a conta do WhatsApp ao usuário do sistema e gere o token de novo',
  },
  number_unavailable: { sentence: 'Não foi possível perguntar ao WhatsApp sobre o número ({text})', remedy: AGAIN },
  callbacks_right: { sentence: 'O app chama {url} para mensagens e situações de modelos' },
  callbacks_set: { sentence: 'O app agora chama {url} para mensagens e situações de modelos' },
  verify_token_new: {
    sentence:
      'O token de verificação é novo: para informar a URL de callback à mão, defina um aqui antes (verify_token)',
  },
  callbacks_overridden: {
    sentence: 'As mensagens chegam aqui por um desvio, mas o app chama {url}, e os avisos sobre modelos vão para lá',
    remedy: 'Atualize os modelos à mão depois de uma mudança, ou use um app só para o Parley',
  },
  callbacks_left: {
    sentence: 'O app chama {url}, e ficou assim: só chega aqui o que o programa de lá repassa',
    remedy: 'Faça-o repassar os callbacks sem mudá-los, ou conecte de novo e escolha outro caminho',
  },
  callbacks_passed_on: {
    sentence: 'O app chama outro endereço, {url}, e os callbacks chegam aqui: o último em {at}',
    remedy: 'Se nenhum programa de lá os repassa, conecte o número de novo',
  },
  messages_not_ticked: {
    sentence: 'O app, que chama {url}, não assina o campo messages: um desvio não traz nada para cá',
    remedy: 'Marque o campo messages no painel de apps, em Casos de uso, Personalizar, Configuração',
  },
  callbacks_elsewhere: {
    sentence: 'O app chama outro endereço, {url}, e um app só tem um',
    remedy: 'Escolha para onde vão os callbacks',
  },
  callbacks_foreign: {
    sentence: 'O app chama outro endereço, {url}: nenhuma mensagem chega aqui',
    remedy: CONNECT,
  },
  callbacks_missing: {
    sentence: 'O app não tem URL de callback: nenhuma mensagem chega',
    remedy: CONNECT,
  },
  callbacks_lack_fields: { sentence: 'O app não assina o campo {fields}', remedy: CONNECT },
  callbacks_not_public: {
    sentence: 'O WhatsApp não consegue chamar {url}: precisa de um endereço https sem sinal de mais',
    remedy: 'O operador do serviço define PARLEY_PUBLIC_URL',
  },
  callbacks_unverified: {
    sentence: 'O WhatsApp chamou {url} para verificá-lo e recebeu outra resposta ({text})',
    remedy: 'O operador executa parley doctor; veja docs/connect-a-number.md#callbacks-do-not-come',
  },
  callbacks_refused: {
    sentence: 'O WhatsApp recusou mostrar ou mudar o endereço que o app chama ({text})',
    remedy: 'Defina a URL de callback à mão',
  },
  callbacks_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp que endereço o app chama ({text})',
    remedy: AGAIN,
  },
  subscribed_right: { sentence: 'O app recebe os callbacks da conta comercial {account}' },
  subscribed_now: { sentence: 'O app agora recebe os callbacks da conta comercial {account}' },
  override_set: { sentence: 'As mensagens agora chegam em {url}' },
  override_elsewhere: {
    sentence: 'Um desvio leva os callbacks para {url}',
    remedy: 'Escolha se eles devem chegar aqui',
  },
  override_left: {
    sentence: 'Um desvio leva os callbacks para {url}, e ficou assim',
    remedy: 'Conecte de novo e escolha outro caminho',
  },
  override_foreign: {
    sentence: 'Um desvio leva os callbacks para {url}: nenhuma mensagem chega aqui',
    remedy: CONNECT,
  },
  override_passed_on: {
    sentence: 'Um desvio leva os callbacks para {url}, e eles chegam aqui: o último em {at}',
    remedy: 'Se nenhum programa de lá os repassa, conecte o número de novo',
  },
  override_unread: {
    sentence: 'O app recebe os callbacks, mas o WhatsApp não diz se um desvio leva os do número para outro lugar',
    remedy: 'Se nenhuma mensagem chegar, conecte o número de novo e traga as mensagens dele para cá',
  },
  override_unverified: {
    sentence: 'O WhatsApp chamou {url} para verificá-lo e recebeu outra resposta ({text})',
    remedy: 'O operador executa parley doctor; veja docs/connect-a-number.md#callbacks-do-not-come',
  },
  override_refused: {
    sentence: 'O WhatsApp não permite mudar o endereço deste número ({text})',
    remedy: 'Use a URL de callback do próprio app: conecte de novo e escolha-a',
  },
  not_subscribed: {
    sentence: 'O app não está inscrito na conta comercial {account}: nenhuma mensagem chega',
    remedy: CONNECT,
  },
  subscribed_refused: {
    sentence: 'O WhatsApp recusou a inscrição na conta comercial {account} ({text})',
    remedy: 'Confira o ID da conta comercial, e se o usuário do sistema a administra',
  },
  subscribed_unavailable: {
    sentence: 'Não foi possível perguntar ao WhatsApp sobre a inscrição ({text})',
    remedy: AGAIN,
  },
  registered_right: { sentence: 'O número está registrado ({status})' },
  registered_now: { sentence: 'O número foi registrado. Anote o PIN: ele não é guardado aqui' },
  registered_unread: {
    sentence: 'O WhatsApp não diz se o número está registrado',
    remedy: 'Se os envios falharem com 133010, registre-o à mão (docs/connect-a-number.md#by-hand)',
  },
  number_restricted: {
    sentence: 'O número chegou ao seu limite de 24 horas (RESTRICTED): recebe e responde, e não inicia conversas',
    remedy: 'Espere até que o limite recomece',
  },
  number_banned: {
    sentence: 'O WhatsApp baniu o número: não envia nem recebe',
    remedy: 'Peça uma análise na Central de suporte para empresas',
  },
  pin_missing: {
    sentence: 'O número não está registrado ({status})',
    remedy:
      'Informe um PIN de seis dígitos: um novo, que você anota, ou o da confirmação em duas etapas, se ela está ativa',
  },
  name_needs_registration: {
    sentence: 'Um novo nome foi aprovado, e aparece quando o número é registrado de novo',
    remedy: 'Informe o PIN da confirmação em duas etapas em até 14 dias; depois, o nome é analisado de novo',
  },
  not_registered: {
    sentence: 'O número não está registrado ({status}): não envia nem recebe',
    remedy: 'Conecte o número de novo e informe um PIN',
  },
  pin_wrong: {
    sentence: 'O número tem outro PIN ({text})',
    remedy: 'Mude-o no Gerenciador do WhatsApp, Números de telefone, Confirmação em duas etapas; não adivinhe',
  },
  pin_blocked: {
    sentence: 'Foram tentados PINs demais ({text})',
    remedy: 'Espere o tempo indicado e informe o PIN certo',
  },
  number_unverified: {
    sentence: 'O número precisa ser verificado de novo antes do registro ({text})',
    remedy:
      'Desative a confirmação em duas etapas no Gerenciador do WhatsApp, verifique o número por SMS e conecte de novo',
  },
  registration_blocked: {
    sentence: 'O número foi registrado dez vezes em 72 horas e está bloqueado por 72 horas ({text})',
    remedy: 'Espere e conecte de novo uma vez',
  },
  registration_too_soon: {
    sentence: 'O número acabou de ser excluído do app do celular ({text})',
    remedy: 'Espere cinco minutos e conecte de novo',
  },
  registration_needs_name: {
    sentence: 'O nome ainda está em análise, e por isso o número não pode ser registrado ({text})',
    remedy: 'Espere a análise, ou mude o nome no Gerenciador do WhatsApp, e conecte de novo',
  },
  registration_refused: {
    sentence: 'O WhatsApp recusou registrar o número ({text})',
    remedy: 'Veja docs/connect-a-number.md#registration',
  },
  registration_unavailable: {
    sentence: 'O WhatsApp não respondeu ao registro ({text})',
    remedy: 'Conecte de novo: se o número estiver registrado, o PIN não é pedido',
  },
  name_approved: { sentence: 'O nome exibido é {name}' },
  name_in_review: {
    sentence: 'O nome está em análise: até ser aprovado, as pessoas veem o número',
    remedy: 'Espere a análise',
  },
  name_declined: {
    sentence: 'O nome foi recusado',
    remedy: 'Escolha outro no Gerenciador do WhatsApp, Números de telefone',
  },
  new_name_in_review: {
    sentence: 'Um novo nome está em análise; até ser aprovado, as pessoas veem {name}',
    remedy: 'Espere a análise',
  },
  new_name_declined: {
    sentence: 'Um novo nome foi recusado; as pessoas veem {name}',
    remedy: 'Escolha outro no Gerenciador do WhatsApp, Números de telefone',
  },
  name_other: {
    sentence: 'A situação do nome é {status}',
    remedy: 'Veja no Gerenciador do WhatsApp, Números de telefone',
  },
  quality_good: { sentence: 'A qualidade é {quality}' },
  quality_low: {
    sentence: 'A qualidade é {quality}: as pessoas bloqueiam ou denunciam as mensagens',
    remedy: 'Envie menos marketing, e só a quem quer',
  },
  health_good: { sentence: 'O número pode enviar' },
  health_limited: { sentence: 'O envio está limitado: {why}', remedy: 'Siga o que diz o Gerenciador do WhatsApp' },
  health_blocked: { sentence: 'O envio está bloqueado: {why}', remedy: 'Siga o que diz o Gerenciador do WhatsApp' },
  sent_delivered: { sentence: 'Uma mensagem para {to} foi entregue' },
  sent_underway: {
    sentence: 'O WhatsApp enviou uma mensagem para {to}, e ela ainda não chegou ao telefone',
    remedy: 'Veja o telefone: ele pode estar desligado ou sem conexão',
  },
  sent_unreported: {
    sentence: 'O WhatsApp aceitou uma mensagem para {to}, e nenhum callback disse o que foi feito dela',
    remedy: 'Veja o telefone. Se a mensagem estiver lá: docs/connect-a-number.md#callbacks-do-not-come',
  },
  sent_not_yet: {
    sentence: 'Nenhuma mensagem foi enviada para {to}: algo antes ainda não está feito',
    remedy: 'Faça o que se diz ali e conecte de novo',
  },
  sent_not_listed: {
    sentence: '{to} não está na lista de destinatários do número de teste ({text})',
    remedy:
      'Adicione-o no painel de apps, em Casos de uso, Personalizar, Configuração da API, nas duas formas se o país tiver duas, como com e sem o 9',
  },
  sent_unregistered: {
    sentence: 'A mensagem para {to} foi recusada: o número não está registrado ({text})',
    remedy: 'Conecte de novo e informe um PIN',
  },
  sent_unpaid: {
    sentence: 'A mensagem para {to} falhou: a conta comercial não tem forma de pagamento válida ({text})',
    remedy: 'Adicione uma à própria conta comercial, no Gerenciador do WhatsApp, em Cobrança e pagamentos',
  },
  sent_locked: {
    sentence: 'A mensagem para {to} foi recusada: a conta comercial está restrita ({text})',
    remedy: 'Peça uma análise na central de suporte para empresas',
  },
  sent_unnamed: {
    sentence: 'A mensagem para {to} foi recusada: o nome de exibição não está aprovado ({text})',
    remedy: 'Aguarde a análise, ou escolha outro nome no Gerenciador do WhatsApp, em Números de telefone',
  },
  sent_too_late: {
    sentence: 'A mensagem para {to} falhou: esse telefone não escreveu ao número nas últimas 24 horas ({text})',
    remedy: 'Escreva "olá" desse telefone ao número e conecte de novo',
  },
  sent_unreachable: {
    sentence: 'A mensagem para {to} não pode ser entregue ({text})',
    remedy: 'Confira se esse número usa o WhatsApp, em uma versão que não seja antiga demais',
  },
  sent_forbidden: {
    sentence: 'O token de acesso não pode enviar a mensagem para {to} ({text})',
    remedy: 'Atribua a conta do WhatsApp ao usuário do sistema e gere o token de novo, com as duas permissões',
  },
  sent_refused: {
    sentence: 'A mensagem para {to} falhou ({text})',
    remedy: 'Veja docs/connect-a-number.md#sending, e o código na lista do WhatsApp',
  },
  sent_unanswered: { sentence: 'O WhatsApp não aceitou a mensagem para {to} ({text})', remedy: AGAIN },
  phone_data_asked: { sentence: 'Os contatos e o histórico do celular foram pedidos ao WhatsApp ({ids})' },
  phone_data_refused: {
    sentence: 'O WhatsApp não envia os contatos ou o histórico do celular ({text})',
    remedy:
      'Eles podem ser pedidos uma vez, em até 24 horas depois que o número foi conectado. Para pedir de novo, desconecte o número no app e conecte-o outra vez',
  },
  phone_data_unavailable: {
    sentence: 'Não foi possível pedir ao WhatsApp os contatos e o histórico do celular ({text})',
    remedy: 'Conecte de novo em até 24 horas',
  },
  received_lately: { sentence: 'O último callback chegou em {at}' },
  received_not: {
    sentence: 'Uma mensagem foi enviada em {at}, e nenhum callback chegou desde então',
    remedy: 'Veja docs/connect-a-number.md#callbacks-do-not-come',
  },
  received_sample: {
    sentence:
      'A amostra do painel de apps chegou em {at}: o endereço e a chave secreta do app estão certos. Nenhuma mensagem chegou ainda',
    remedy: 'Publique o app e escreva "olá" do seu celular para {number}',
  },
  received_never: {
    sentence: 'Nenhum callback chegou ainda',
    remedy: 'Escreva "olá" do seu celular para {number}',
  },
}
