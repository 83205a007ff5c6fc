// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "instance.create": [
    {
      "name": "example",
      "body": {"instanceName": "shop", "integration": "WHATSAPP-BUSINESS"},
      "status": 201,
      "answer": {
        "instance": {
          "instanceName": "shop",
          "instanceId": "01a20000-0000-7000-8000-000000000001",
          "integration": "WHATSAPP-BUSINESS",
          "webhookWaBusiness": "https://parley.example/hooks/upstream",
          "accessTokenWaBusiness": "",
          "status": "open"
        },
        "hash": "TOKEN-OF-THE-INSTANCE",
        "webhook": {},
        "websocket": {},
        "rabbitmq": {},
        "nats": {},
        "sqs": {},
        "settings": {
          "rejectCall": false,
          "msgCall": "",
          "groupsIgnore": false,
          "alwaysOnline": false,
          "readMessages": false,
          "readStatus": false,
          "syncFullHistory": false,
          "wavoipToken": ""
        }
      }
    },
    {
      "name": "forbidden",
      "body": {"instanceName": "shop", "integration": "WHATSAPP-BUSINESS"},
      "status": 403,
      "answer": {"status": 403, "error": "Forbidden", "response": {"message": ["This name \"shop\" is already in use."]}}
    },
    {
      "name": "bad_request",
      "body": {"integration": "WHATSAPP-BUSINESS"},
      "status": 400,
      "answer": {
        "status": 400,
        "error": "Bad Request",
        "response": {"message": [["instanceName is required and must not be empty"]]}
      }
    },
    {
      "name": "with_a_webhook",
      "body": {
        "instanceName": "phone",
        "integration": "SANDBOX",
        "webhook": {"url": "https://shop.example/hooks/chat", "byEvents": false, "events": []}
      },
      "status": 201,
      "answer": {
        "instance": {
          "instanceName": "phone",
          "instanceId": "01a20000-0000-7000-8000-000000000002",
          "integration": "SANDBOX",
          "webhookWaBusiness": null,
          "accessTokenWaBusiness": "",
          "status": "close"
        },
        "hash": "TOKEN-OF-THE-INSTANCE",
        "webhook": {
          "webhookUrl": "https://shop.example/hooks/chat",
          "webhookHeaders": {},
          "webhookByEvents": false,
          "webhookBase64": false,
          "secret": "whsec_EXAMPLE"
        },
        "websocket": {},
        "rabbitmq": {},
        "nats": {},
        "sqs": {},
        "settings": {
          "rejectCall": false,
          "msgCall": "",
          "groupsIgnore": false,
          "alwaysOnline": false,
          "readMessages": false,
          "readStatus": false,
          "syncFullHistory": false,
          "wavoipToken": ""
        }
      }
    }
  ],
  "instance.connect": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "status": 200,
      "answer": {
        "pairingCode": null,
        "code": "2@EXAMPLE,EXAMPLE,EXAMPLE",
        "base64": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAS",
        "count": 1
      }
    },
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    }
  ],
  "instance.connectionState": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "status": 200,
      "answer": {"instance": {"instanceName": "phone", "state": "connecting"}}
    },
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    }
  ],
  "instance.fetchInstances": [
    {
      "name": "example",
      "query": {"instanceName": "phone"},
      "status": 200,
      "answer": [
        {
          "id": "01a20000-0000-7000-8000-000000000002",
          "name": "phone",
          "connectionStatus": "open",
          "ownerJid": "5511988887777@s.whatsapp.net",
          "profileName": null,
          "profilePicUrl": null,
          "integration": "SANDBOX",
          "number": null,
          "businessId": null,
          "token": "TOKEN-OF-THE-INSTANCE",
          "clientName": "parley",
          "disconnectionReasonCode": null,
          "disconnectionObject": null,
          "disconnectionAt": null,
          "createdAt": "2026-03-02T09:00:00.000Z",
          "updatedAt": "2026-03-02T09:00:00.000Z",
          "Chatwoot": null,
          "Proxy": null,
          "Rabbitmq": null,
          "Nats": null,
          "Sqs": null,
          "Websocket": null,
          "Setting": {
            "id": "01a20000-0000-7000-8000-000000000002",
            "rejectCall": false,
            "msgCall": "",
            "groupsIgnore": false,
            "alwaysOnline": false,
            "readMessages": false,
            "readStatus": false,
            "syncFullHistory": false,
            "wavoipToken": "",
            "createdAt": "2026-03-02T09:00:00.000Z",
            "updatedAt": "2026-03-02T09:00:00.000Z",
            "instanceId": "01a20000-0000-7000-8000-000000000002"
          },
          "_count": {"Message": 0, "Contact": 0, "Chat": 0}
        }
      ]
    },
    {
      "name": "not_found",
      "query": {"instanceName": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["Instance \"unknown\" not found"]}}
    }
  ],
  "instance.setPresence": [
    {
      "name": "example",
      "path": {"instance": "phone"},
      "body": {"presence": "available"},
      "status": 201,
      "answer": {"presence": "available"}
    },
    {
      "name": "internal_server_error",
      "path": {"instance": "closed"},
      "body": {"presence": "available"},
      "status": 500,
      "answer": {"status": 500, "error": "Internal Server Error", "response": {"message": "Connection Closed"}}
    }
  ],
  "instance.logout": [
    {
      "name": "bad_request",
      "path": {"instance": "closed"},
      "status": 400,
      "answer": {"status": 400, "error": "Bad Request", "response": {"message": ["The \"closed\" instance is not connected"]}}
    },
    {
      "name": "example",
      "path": {"instance": "phone"},
      "status": 200,
      "answer": {"status": "SUCCESS", "error": false, "response": {"message": "Instance logged out"}}
    }
  ],
  "instance.restart": [
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    },
    {
      "name": "example",
      "path": {"instance": "phone"},
      "status": 200,
      "answer": {"instance": {"instanceName": "phone", "state": "open", "status": "open"}}
    }
  ],
  "instance.delete": [
    {
      "name": "not_found",
      "path": {"instance": "unknown"},
      "status": 404,
      "answer": {"status": 404, "error": "Not Found", "response": {"message": ["The \"unknown\" instance does not exist"]}}
    },
    {
      "name": "example",
      "path": {"instance": "closed"},
      "status": 200,
      "answer": {"status": "SUCCESS", "error": false, "response": {"message": "Instance deleted"}}
    }
  ]
}
