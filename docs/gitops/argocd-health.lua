-- The health of an ApiSpecification or a Realm, for Argo CD. It needs no library of Lua.
local status = obj.status or {}
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  found[condition.type] = condition
end
local function isTrue(condition)
  return condition ~= nil and condition.status == "True"
end
local function health(name, condition)
  return { status = name, message = condition.reason .. ": " .. condition.message }
end

local ready = found.Ready
-- The gateways that served it do so no more, whatever has changed since.
if ready ~= nil and ready.reason == "Released" then
  return health("Degraded", ready)
end
if ready == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "no operator has validated this generation yet" }
end
-- Nothing changes until somebody acts.
if isTrue(found.Stalled) then
  return health("Degraded", found.Stalled)
end
if isTrue(ready) then
  if isTrue(found.Degraded) then
    return health("Degraded", found.Degraded)
  end
  return { status = "Healthy", message = ready.message }
end
local annotations = obj.metadata.annotations or {}
if annotations["gateway.svc.dev/paused"] == "true" then
  return { status = "Suspended", message = ready.message }
end
return health("Progressing", ready)
